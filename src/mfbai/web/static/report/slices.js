// Long work in slices, between which the page draws and answers.

const SLICE = 8; // ms

const pause = () =>
  new Promise((resolve) => {
    const channel = new MessageChannel(); // a timer would wait for 4 ms
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });

/** Run a generator to its end and return its result; `onProgress` gets what it yields last in each slice. */
export async function inSlices(work, signal, onProgress = () => {}) {
  for (;;) {
    const end = performance.now() + SLICE;
    let step = work.next();
    while (!step.done && performance.now() < end) step = work.next();
    if (step.done) return step.value;
    onProgress(step.value);
    await pause();
    if (signal?.aborted) throw new DOMException("another file was opened", "AbortError");
  }
}
