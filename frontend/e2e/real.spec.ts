// Against a running host: ATOLL_URL is its address with everything a browser needs.
import { expect, REAL, test } from './fixture';

test.skip(!REAL, 'set ATOLL_URL to the address of a running host');

test('a question gets an answer, and the chat can be deleted', async ({ page }) => {
  test.setTimeout(600_000);
  await page.goto(REAL);
  await expect(page.getByTestId('empty')).toBeVisible();
  await page.getByTestId('approve-mode').click();
  await page.getByTestId('mode-never').click();
  await page.getByTestId('composer').fill('Say hello in one short sentence.');
  await page.getByTestId('composer').press('Enter');
  await expect(page.getByTestId('user')).toBeVisible();
  await expect(page.getByTestId('answer').or(page.getByTestId('fault'))).toBeVisible({
    timeout: 500_000,
  });
  await expect(page.getByTestId('send')).toBeVisible({ timeout: 500_000 });
  await expect(page.getByTestId('fault')).toHaveCount(0);
  await expect(page.getByTestId('answer').last()).not.toBeEmpty();
  await page.getByTestId('chat-menu').first().click();
  await page.getByTestId('delete').click();
  await page.getByTestId('confirm-yes').click();
  await expect(page.getByTestId('empty')).toBeVisible();
});
