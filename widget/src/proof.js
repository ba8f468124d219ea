import { ApiError } from "./api-error.js";

// As many at once as keep the browser's own threads busy for a few ms: the page stays free between them.
const BATCH = 400;

/** @type {import("../types").Solve} */
export const solve = async (challenge, bits, signal, working) => {
  const { subtle } = crypto;
  if (!subtle) throw new ApiError(0, "insecure"); // browsers have it on https pages only
  const text = new TextEncoder();
  const begun = Date.now();
  for (let nonce = 0; ; nonce += BATCH) {
    const sums = Array.from({ length: BATCH }, (_, at) => subtle.digest("SHA-256", text.encode(`${challenge}:${nonce + at}`)));
    const found = (await Promise.all(sums)).findIndex((sum) => Math.clz32(new DataView(sum).getUint32(0)) >= bits);
    if (found >= 0) return `${nonce + found}`;
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
    working?.(Date.now() - begun);
  }
};
