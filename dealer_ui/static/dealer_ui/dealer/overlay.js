// A fresh board is laid over the one on the screen: what both have stays where it is, with all that somebody opened,
// chose or half typed there, and only what differs is put in its place. An element that has to stay has an id, or one
// of the marks below; whatever has none is known by its place.

const MARKS = ["id", "data-seat", "data-pane"];
const OPENED = ["DETAILS", "DIALOG"];

/** Bring an element in line with a fresh one: its attributes, and all that lies in it. */
export function lay(fresh, lying) {
  layAttributes(fresh, lying);
  layChildren(fresh, lying);
}

/** Whatever somebody opened is theirs to close. */
const isTheirs = (element, name) => name === "open" && OPENED.includes(element.tagName);

function layAttributes(fresh, lying) {
  for (const { name } of [...lying.attributes])
    if (!fresh.hasAttribute(name) && !isTheirs(lying, name)) lying.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (lying.getAttribute(name) !== value && !isTheirs(lying, name)) lying.setAttribute(name, value);
}

function layChildren(fresh, lying) {
  const marks = new Set([...fresh.childNodes].map(markOf));
  for (const child of [...lying.childNodes]) if (markOf(child) && !marks.has(markOf(child))) child.remove();
  let place = lying.firstChild;
  for (const child of [...fresh.childNodes]) {
    const same = sameFrom(place, child);
    if (!same) {
      lying.insertBefore(child, place);
      continue;
    }
    while (place !== same) place = takeAway(place);
    layNode(child, same);
    place = same.nextSibling;
  }
  while (place) place = takeAway(place);
}

/** A fresh element that was not read keeps what lies there. */
function layNode(fresh, lying) {
  if (fresh.nodeType === Node.ELEMENT_NODE && fresh.hasAttribute("data-keeps")) return;
  if (fresh.nodeType === Node.ELEMENT_NODE) lay(fresh, lying);
  else if (lying.data !== fresh.data) lying.data = fresh.data;
}

function takeAway(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** From a place on, the node that is the same as a fresh one: by its mark, or else the first of its kind before the
 *  next that has a mark. */
function sameFrom(place, fresh) {
  const mark = markOf(fresh);
  for (let node = place; node; node = node.nextSibling) {
    if (!mark && markOf(node)) return null;
    if (markOf(node) === mark && kindOf(node) === kindOf(fresh)) return node;
  }
  return null;
}

function markOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  const name = MARKS.find((mark) => node.hasAttribute(mark));
  return name ? `${name}=${node.getAttribute(name)}` : "";
}

/** A button is what it enters, a mark what it stands for: another input is another button. */
function kindOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
  const stands = node.matches("button, [type=radio], [type=checkbox]") ? `${node.value} ${node.dataset.does}` : "";
  return `${node.nodeName} ${node.getAttribute("name")} ${node.getAttribute("type")} ${stands}`;
}
