// What the dealer's screen says by itself: a code, facts, and the one place of their wording. What the table says comes
// with the board.

const UNCONFIRMED = "is not confirmed yet: it is sent again until the table answers, and recorded once.";
const TYPED_STAYS = "What is typed is still here";
const SILENT = "The house does not answer.";

export const SENTENCES = {
  // --- Above the keys ---
  next: ({ keys }) => `Next: ${keys}`,
  came_twice: ({ key }) => `${key} came twice at once and was entered once.`,
  not_entered: ({ keys }) => `Not entered: ${keys}. Something else came before.`,
  still_answering: ({ key }) => `${key ? `${key} was not entered` : "Not entered"}: the table is still answering.`,
  seat_comes_first: ({ key, seat }) => `${key ? `${key} was not entered` : "Not entered"}: seat ${seat} comes first.`,
  keyboard_elsewhere: () => "The table does not have the keyboard: Esc gives it back.",
  no_step: ({ sentence }) => sentence,
  no_step_back: ({ sentence }) => sentence,
  no_card_due: () => "No card is due now.",
  no_meaning: ({ key }) => `${key} stands for nothing now.`,
  choice_dropped: () => "The table has moved on: what was half chosen is dropped.",
  amount_dropped: ({ amount }) => `The table has moved on: “${amount}” was not entered.`,
  field_gone: () => "The table has moved on while you typed.",
  amount_in_hand: ({ amount }) => `${amount} is in hand: lay it on a spot, or clear it with Esc.`,
  amount_first: () => "Tap or type the amount first.",
  amount_first_for_spots: () => "Tap or type the amount first, then each spot that it lies on.",
  seat_first: ({ takes }) => `Choose a seat first, then its ${takes}.`,
  seat_with_chips_first: () => "Choose a seat with chips first: the arrow keys move along the seats.",
  no_earlier_bet: () => "This seat has no earlier bet to repeat.",
  dealt_in: ({ seat }) => `Seat ${seat} is dealt in.`,
  sits_out: ({ seat }) => `Seat ${seat} sits out.`,
  count_first: () => "Type how many first.",
  count_impossible: ({ count }) => `${count} cannot be chosen.`,
  column_first: () => "Count this column first.",
  // --- The line to the house ---
  no_connection: unconfirmed("No connection."),
  no_answer: unconfirmed("The table does not answer."),
  put_off: ({ sentence, input }) => unconfirmed(sentence || SILENT)({ input }),
  out_of_date: unconfirmed("This page is out of date: reload it."),
  dropped: () => "Dropped here. If the table had it already, the board will show it.",
  // --- A page beside the felt ---
  form_lost: () => `${SILENT} ${TYPED_STAYS}: press the button again, and it is recorded once.`,
  form_put_off: ({ sentence }) => `${sentence} ${TYPED_STAYS}, and this goes on by itself.`,
  page_lost: () => `${SILENT} This page comes by itself as soon as it does.`,
};

function unconfirmed(sentence) {
  return ({ input }) => (input ? `${sentence} “${input}” ${UNCONFIRMED}` : sentence);
}

export const sentenceOf = (message) => SENTENCES[message.code](message);

/** A box has the code and the facts of its message as data; without a message, none. */
export function mark(box, message) {
  for (const name of Object.keys(box.dataset)) delete box.dataset[name];
  const { sentence, ...facts } = message ?? {};
  Object.assign(box.dataset, facts);
}
