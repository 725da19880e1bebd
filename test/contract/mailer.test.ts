import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Mailer, MailFailed, openMailer } from '../../src/platform/mail/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { startSmtp, type TestSmtp, textOf } from '../support/smtp.ts'

let smtp: TestSmtp
beforeAll(async () => {
  smtp = await startSmtp()
})
afterAll(() => smtp.close())

function mailerFor(smtp_url: string | undefined) {
  const lines: string[] = []
  const metrics = createMetrics()
  const logger = pino({}, { write: (line) => lines.push(line) })
  const from = 'Looptrace <looptrace@example.com>'
  const mailer = openMailer({ smtp_url, from, logger, metrics, retry_ms: 1 })
  const exposed = async () => (await metrics.expose()).body
  return { mailer, logged: () => lines.join(''), exposed }
}

const mail = { to: 'ada@example.com', subject: 'Reset', text: 'Open https://x/y?a=b\n\nThanks' }

/** Returns the error of a mail that fails. */
async function failureOf(mailer: Mailer, given = mail): Promise<Error> {
  const error = await mailer.send(given).then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(MailFailed)
  return error as Error
}

test('a mail arrives as plain text, from the sender, to one address', async () => {
  const { mailer, exposed } = mailerFor(`smtp://127.0.0.1:${smtp.port}`)
  await mailer.send(mail)
  const [received] = smtp.mails.slice(-1)
  if (received === undefined) throw new Error('no mail arrived')
  expect(received).toMatchObject({ from: 'looptrace@example.com', to: ['ada@example.com'] })
  expect(received.source).toMatch(/^subject: Reset\r$/im)
  expect(received.source).toMatch(/^content-type: text\/plain/im)
  expect(textOf(received)).toContain('Open https://x/y?a=b')
  expect(await exposed()).toContain('looptrace_mails_total{outcome="sent"} 1')
})

test.each([
  ['a second recipient', { to: 'ada@example.com, eve@example.com' }],
  ['a header in the address', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
  ['a name in the address', { to: 'Ada <ada@example.com>' }],
  ['a group', { to: 'all:ada@example.com;' }],
  ['a header in the subject', { subject: 'Reset\r\nBcc: eve@example.com' }],
  ['a bare line feed in the subject', { subject: 'Reset\nBcc: eve@example.com' }],
])('%s is refused', async (_name, change) => {
  const { mailer } = mailerFor(`smtp://127.0.0.1:${smtp.port}`)
  const before = smtp.mails.length
  await failureOf(mailer, { ...mail, ...change })
  expect(smtp.mails).toHaveLength(before)
})

test('a temporary refusal is tried three times, a permanent one once', async () => {
  for (const [responseCode, attempts] of [
    [450, 3],
    [550, 1],
  ] as const) {
    let tried = 0
    const server = await startSmtp({
      onRcptTo: (_address, _session, done) => {
        tried += 1
        done(Object.assign(new Error('refused'), { responseCode }))
      },
    })
    const { mailer, exposed } = mailerFor(`smtp://127.0.0.1:${server.port}`)
    expect((await failureOf(mailer)).message).toContain(String(responseCode))
    expect(tried).toBe(attempts)
    expect(await exposed()).toContain('looptrace_mails_total{outcome="failed"} 1')
    await server.close()
  }
})

test('a refused login shows the credentials neither in the error nor in the log', async () => {
  const server = await startSmtp({
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      done(new Error(`535 no such login ${username} ${password}`)),
  })
  const { mailer, logged } = mailerFor(`smtp://marvin:hunter2@127.0.0.1:${server.port}`)
  const error = await failureOf(mailer)
  expect(error.message).toContain(`127.0.0.1:${server.port}`)
  for (const text of [String(error.stack), JSON.stringify(error), String(error.cause), logged()]) {
    expect(text).not.toMatch(/hunter2|marvin|aHVudGVyMg/)
  }
  expect(logged()).toContain('a mail failed')
  await server.close()
})

test('a certificate that is not trusted is refused', async () => {
  const server = await startSmtp({ secure: true })
  const { mailer } = mailerFor(`smtps://127.0.0.1:${server.port}`)
  await failureOf(mailer)
  expect(server.mails).toHaveLength(0)
  await server.close()
})

test('without a mail server nothing is sent', async () => {
  const { mailer } = mailerFor(undefined)
  expect(mailer.configured).toBe(false)
  await failureOf(mailer)
})

test('closing gives up a mail that waits for another attempt', async () => {
  const server = await startSmtp()
  const { port } = server
  await server.close()
  const metrics = createMetrics()
  const logger = pino({ level: 'silent' })
  const mailer = openMailer({
    ...{ smtp_url: `smtp://127.0.0.1:${port}`, from: 'a@b.c', logger, metrics },
    retry_ms: 600_000,
  })
  const failing = failureOf(mailer)
  mailer.close()
  expect((await failing).message).toContain('ESOCKET')
})
