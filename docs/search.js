// Browsers start no worker from file://. There a frame runs the script of the search instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      this.inner.importScripts = (...urls) => Promise.all(urls.map((one) => this.load(one)));
      this.ready = this.load(url);
    }
    load(url) {
      return new Promise((resolve) => {
        const script = this.inner.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        this.inner.document.documentElement.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
