import { MailFailed } from '../../../../platform/mail/index.ts'
import type { AttemptResult } from '../../messages/delivery.ts'
import { isEnd } from '../../messages/message.ts'
import { plain, textOf, titleOfSeveral } from '../message-text.ts'
import type { Outgoing, Send, SenderPorts } from './contract.ts'

const host = 'incidents.looptrace'

/**
 * Sends messages of a rule as one mail of plain text. The identity of the mail is the id of its
 * first message, so that mail programs show a repeated mail once; all mails of an incident refer to
 * its id, so that they are one conversation.
 */
export const sendEmail: Send = async (messages, channel, ports) => {
  const [first] = messages
  if (first === undefined) throw new Error('a mail needs a message')
  const texts = messages.map(({ message }) => textOf(message, channel.templates, plain))
  const several = titleOfSeveral(
    messages.map(({ message }) => message),
    plain,
  )
  const [only] = texts
  const subject =
    messages.length === 1 && only !== undefined ? subjectOf(first, only.title) : several
  const body = texts.map(({ title, body: text }) => `${title}\n\n${text}`).join('\n\n---\n\n')
  return deliver(
    {
      to: channel.section['to'] as readonly string[],
      subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '),
      text: `${body}\n`,
      message_id: `${first.id}@${host}`,
      // The outbox repeats attempts.
      attempts_max: 1,
      references: messages.map(({ message }) => `${message.incident.incident_id}@${host}`),
    },
    ports,
  )
}

/** The subject of a mail; equal for all mails of an incident but for the end. */
function subjectOf({ message }: Outgoing, title: string): string {
  const state = isEnd(message.reason) ? 'Resolved' : message.incident.severity.toUpperCase()
  return `[${state}] ${title}`
}

async function deliver(
  mail: Parameters<SenderPorts['mailer']['send']>[0],
  { mailer, signal }: SenderPorts,
) {
  if (!mailer.configured) {
    const reason = 'no mail server is configured. Set LOOPTRACE_SMTP_URL'
    return { result: { refused: reason }, error: reason, response: '' }
  }
  try {
    await mailer.send(mail)
    return { result: { status: 200 }, error: null, response: '' }
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    signal.throwIfAborted()
    return { result: toResult(error), error: error.message, response: '' }
  }
}

/** Codes of 5xx that are about the login of the service, which can be repaired (RFC 4954). */
const loginCodes: readonly number[] = [530, 534, 535, 538]

/** Returns the result of a failed mail: a refusal for good is like a status of 4xx. */
function toResult({ code }: MailFailed): AttemptResult {
  if (code === undefined) return { error: 'connection' }
  return { status: code >= 500 && !loginCodes.includes(code) ? 400 : 503 }
}
