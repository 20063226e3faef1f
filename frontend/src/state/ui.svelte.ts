// What is folded, asked and enlarged on the page itself.

/** Below this width the list of chats lies over the conversation. */
export const NARROW = 960; // CSS pixels

class UI {
  narrow = $state(innerWidth < NARROW);
  sidebar = $state(innerWidth >= NARROW);
  /** An address the person clicked, until it is confirmed. */
  link = $state('');
  /** True while the settings of the sandbox are shown. */
  sandbox = $state(false);
  figure = $state.raw<{ url: string; alt: string; save: () => void } | null>(null);

  start(): void {
    addEventListener('resize', () => {
      const narrow = innerWidth < NARROW;
      if (narrow !== this.narrow) this.sidebar = !narrow;
      this.narrow = narrow;
    });
  }

  foldAfterChoice(): void {
    if (this.narrow) this.sidebar = false;
  }
}

export const ui = new UI();
