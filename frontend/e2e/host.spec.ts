// The main job in the real program: host, sandbox and store are real, the model
// is a script (script.json). build/test-browser.sh starts it.
import { expect, REAL, test } from './fixture';

test.skip(!REAL || !process.env.ATOLL_SCRIPT, 'run build/test-browser.sh');

test('an example is asked, approved, computed, answered and kept', async ({ page }) => {
  await page.goto(REAL);
  await page.getByText('Which region sells most?').first().click();
  await expect(page.getByTestId('composer')).toHaveValue(/total revenue per region/);
  await page.getByTestId('send').click();
  await page.getByTestId('approve').click();
  await expect(page.getByTestId('output').first()).toContainText('top region: West 52656.0');
  await expect(page.getByTestId('answer').last()).toContainText('52,656.00');
  await page.reload();
  await page.getByTestId('chat-list').getByText('What is the total revenue').first().click();
  await expect(page.getByTestId('answer').last()).toContainText('52,656.00');
});

test('stop ends a program that runs, and the chat goes on', async ({ page }) => {
  await page.goto(REAL);
  await page.getByTestId('composer').fill('Count slowly with python code');
  await page.getByTestId('send').click();
  await page.getByTestId('approve').click();
  await expect(page.getByTestId('output').first()).toContainText('tick 3');
  await page.getByTestId('stop').click();
  await expect(page.getByTestId('send')).toBeVisible({ timeout: 5_000 });
  await page.getByTestId('composer').fill('hello, tell me of the tide');
  await page.getByTestId('send').click();
  await expect(page.getByTestId('answer').last()).toContainText('twice a day');
  await expect(page.locator('script', { hasText: 'alert(1)' })).toHaveCount(0);
});
