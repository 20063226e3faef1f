import { test as base, expect, type Page } from '@playwright/test';
import { startMock } from '../test/mock-host.mjs';

/** Set to the address of a running host to test the page against it. */
export const REAL = process.env.ATOLL_URL ?? '';

export interface Mock {
  url: string;
  host: any;
  breakStreams(): void;
  close(): Promise<void>;
}

interface Fixtures {
  options: Record<string, unknown>;
  mock: Mock;
}

export const test = base.extend<Fixtures>({
  options: [{}, { option: true }],
  mock: async ({ options }, use) => {
    const mock: Mock = await startMock({ pace: 0.2, ...options });
    await use(mock);
    await mock.close();
  },
  // Nothing may be requested from anywhere else, and nothing may go wrong unseen.
  page: async ({ page }, use) => {
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/net::ERR_|Failed to load resource/.test(text)) {
        wrong.push(text);
      }
    });
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      const own = ['127.0.0.1', 'localhost'].includes(hostname);
      if (!own && !['data:', 'blob:'].includes(protocol)) wrong.push(`request to ${request.url()}`);
    });
    await use(page);
    expect(wrong).toEqual([]);
  },
});

export { expect };

export async function ask(page: Page, text: string): Promise<void> {
  await page.getByTestId('composer').fill(text);
  await expect(page.getByTestId('send')).toBeEnabled(); // models are known a moment later
  await page.getByTestId('composer').press('Enter');
}

export const finished = (page: Page) => expect(page.getByTestId('send')).toBeVisible();

/** Lets code run without asking, as long as its effects stay inside. */
export async function auto(page: Page): Promise<void> {
  await page.getByTestId('approve-mode').click();
  await page.getByTestId('mode-auto').click();
}

/** Lets code work in a folder of the person's. */
export async function setProject(page: Page, folder: string): Promise<void> {
  await page.getByTestId('sandbox').click();
  await page.getByTestId('preset-offline-project').click();
  await page.getByTestId('project').fill(folder);
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('sandbox')).toContainText(`Project ${folder.split('/').pop()}`);
  await page.keyboard.press('Escape');
}
