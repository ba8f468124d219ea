for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) {
  delete globalThis[name];
}
globalThis.open = () => null;
globalThis.print = () => {};
