// Browsers start no workers for pages that are opened from a file. The search gets a frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const scope = frame.contentWindow;
          scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = scope.document.createElement("script");
          script.src = url;
          script.addEventListener("load", () => resolve(scope));
          scope.document.body.append(script);
        });
      });
      document.documentElement.append(frame);
    }

    async postMessage(data) {
      const scope = await this.ready;
      scope.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
