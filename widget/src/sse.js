/** @type {import("../types").EventParser} */
export const eventParser = () => {
  let rest = "";
  let event = "";
  let id = "";
  /** @type {string[]} */
  let data = [];
  return (piece) => {
    const complete = [];
    // A carriage return at the very end may be half of a line break whose other half is still to come.
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() || "";
    for (const line of lines) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line) || [];
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id") id = value;
      else if (!line) {
        if (data.length) complete.push({ event: event || "message", data: data.join("\n"), id });
        event = "";
        data = [];
      }
    }
    return complete;
  };
};
