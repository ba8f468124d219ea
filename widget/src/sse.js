// @ts-check
/** @import {ServerEvent} from "../types" */

/**
 * A parser of server-sent events for text that comes in pieces of any length.
 * Call it with each piece: it returns the events that the piece completes. Comments complete nothing; the id
 * of an event stays in force for later ones that have none.
 * @returns {(piece: string) => ServerEvent[]}
 */
export function eventParser() {
  let rest = "";
  let event = "";
  let id = "";
  /** @type {string[]} */
  let data = [];

  /** @param {string} line @param {ServerEvent[]} complete */
  const take = (line, complete) => {
    if (!line) {
      if (data.length) complete.push({ event: event || "message", data: data.join("\n"), id });
      event = "";
      data = [];
      return;
    }
    const [, field, value] = /** @type {RegExpExecArray} */ (/^([^:]*):? ?(.*)$/s.exec(line));
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
  };

  return (piece) => {
    /** @type {ServerEvent[]} */
    const complete = [];
    rest += piece;
    // A carriage return at the very end may be half of a line break whose other half is still to come.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() || "";
    for (const line of lines) take(line, complete);
    return complete;
  };
}
