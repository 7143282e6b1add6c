// What the dealer's screen remembers between two keys: all of it, and nothing else that changes. What the table says
// stands on the board; what somebody types stands in its fields.

export const state = {
  /** The input on its way, if any: {form, button, name, does}. */
  flying: null,
  /** Keys typed since it was sent, in order; and the mode that they were typed for. */
  ahead: [],
  expects: "",
  /** Why no key is taken until the dealer has looked. */
  shut: null,
  /** What became of the last key, if nothing did. */
  note: null,
  /** How often the line has failed since it last worked; and the timer of the next attempt. */
  lost: 0,
  retry: 0,
  /** Whether the input is under way just now; between two attempts it is not. */
  sent: false,
  /** The key or button pressed last, whether it was a key or a touch, and when. */
  finger: { name: "", by: "", moment: -Infinity },
  /** Whether a page beside the felt is on its way: what happens at the table meanwhile is drawn after it. */
  beside: false,
  /** Whether a form is sent on behalf of a key. */
  byKey: false,
  /** The newest sequence number that the live stream told of. */
  heard: 0,
  /** How the live stream is doing: a fresh board does not know. */
  lamp: ["wait", "Connecting"],
  /** Whether the amount in hand lies on a spot: it stays for the next one, until another is named. */
  laid: false,
  /** Whether figures begin a new amount. */
  anew: false,
  /** The figures of a count so far. */
  count: "",
};
