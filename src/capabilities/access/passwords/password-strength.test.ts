import { afterAll, describe, expect, test } from 'vitest'
import { createPasswordStrength } from './password-strength.ts'

const strength = createPasswordStrength()
afterAll(() => strength.close())

const about = ['ada.lovelace@example.com', 'Ada Lovelace', 'Analytical Engines']

test.each([
  'password1234',
  'P@ssw0rd1234',
  'aaaaaaaaaaaaaaaa',
  'qwertyuiop12',
  'iloveyou12345',
  'letmein letmein letmein',
  'ada.lovelace@example.com',
  'AdaLovelace1815',
  'analytical engines',
  'looptrace1234',
  'Summer2026!!',
  'abcdefghijklmnop',
])('%s is refused with advice, and not quoted', async (password) => {
  const weakness = await strength.findWeakness(password, about)
  expect(weakness).toMatch(/\. Use a longer phrase/)
  expect(weakness?.toLowerCase()).not.toContain(password.toLowerCase())
})

test.each([
  'correct horse battery',
  'purple monkey dishwasher',
  'm7Qz-19xK-ppLw',
  'пароль лошади скрепка батарея',
  '🐎🔋📎✅🐎🔋📎✅🦊🌵🍋',
])('%s is accepted', async (password) => {
  expect(await strength.findWeakness(password, about)).toBeUndefined()
})

describe('hostile passwords', () => {
  const letters = '4@8({[<369&#!1|0$5+7%2'
  test.each(['a', 'ab', 'p@$$w0rd', letters, '2021-12-31', 'qwertyuiop', '\u0000', '\ud83d', '🐎'])(
    'of %j repeated take a bounded time',
    async (part) => {
      await strength.findWeakness('warm up the thread')
      const password = part.repeat(256).slice(0, 256)
      const start_ms = performance.now()
      await strength.findWeakness(password, [part.repeat(320)])
      // 20 ms on a free processor; tests share theirs with others.
      expect(performance.now() - start_ms).toBeLessThan(2_000)
    },
  )
})

test('questions at once are answered each, and a closed check starts again', async () => {
  const answers = await Promise.all(
    ['password1234', 'purple monkey dishwasher', 'qwertyuiop12'].map((password) =>
      strength.findWeakness(password),
    ),
  )
  expect(answers.map((answer) => answer === undefined)).toEqual([false, true, false])
  await strength.close()
  expect(await strength.findWeakness('password1234')).toBeDefined()
})
