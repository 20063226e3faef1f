// Light or dark: the system's choice unless the person made one.
export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'atoll.theme';

class Theme {
  choice = $state<ThemeChoice>('system');

  /** Applies the choice now and whenever the system changes. */
  start(): void {
    const saved = localStorage.getItem(KEY);
    if (saved === 'light' || saved === 'dark') this.choice = saved;
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#apply());
    this.#apply();
  }

  set(choice: ThemeChoice): void {
    this.choice = choice;
    if (choice === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
    this.#apply();
  }

  #apply(): void {
    const dark =
      this.choice === 'dark' ||
      (this.choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }
}

export const theme = new Theme();
