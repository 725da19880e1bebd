import { isEnd, type Message } from '../messages/message.ts'
import type { Templates } from './channel.ts'
import { type Escape, fillTemplate } from './templates.ts'

/** The texts of a message. */
export type MessageText = { title: string; body: string }

const title_characters_max = 250
const body_characters_max = 6000

const defaultTitle = '#{{number}} {{title}}'

/** Lines of the default text. A line is left out if its last placeholder is empty. */
const defaultLines: readonly (readonly [line: string, needs: string])[] = [
  ['{{reason}} ({{severity}}) at {{at}}', '{{at}}'],
  ['{{summary}}', '{{summary}}'],
  ['Note: {{note}}', '{{note}}'],
  ['Where: {{group}}', '{{group}}'],
  ['Last value of {{signal}}: {{value}}', '{{value}}'],
  ['Assigned to: {{assignee}}', '{{assignee}}'],
  ['Rule {{rule}}, open since {{opened_at}}', '{{opened_at}}'],
  ['Runbook: {{runbook_url}}', '{{runbook_url}}'],
]

/** Escapes nothing, for texts without markup. */
export const plain: Escape = (value) => value

/** Returns the texts of a message, by the templates of the channel or the default. */
export function textOf(message: Message, templates: Templates, escaped: Escape): MessageText {
  const fill = (text: string) => fillTemplate(text, message, escaped)
  const lines = defaultLines.filter(([, needs]) => fill(needs) !== '').map(([line]) => fill(line))
  return {
    title: cut(fill(templates.title ?? defaultTitle), title_characters_max),
    body: cut(
      templates.body === undefined ? lines.join('\n') : fill(templates.body),
      body_characters_max,
    ),
  }
}

/** Returns the title of several messages of one rule. */
export function titleOfSeveral(messages: readonly Message[], escaped: Escape): string {
  const [first] = messages
  const resolved = messages.filter(({ reason }) => isEnd(reason)).length
  const counts = [
    ...(resolved < messages.length ? [`${messages.length - resolved} open`] : []),
    ...(resolved > 0 ? [`${resolved} resolved`] : []),
  ]
  const rule = first === undefined ? '' : fillTemplate('{{rule}}', first, escaped)
  return `${messages.length} incidents of rule ${rule}: ${counts.join(', ')}`
}

function cut(text: string, characters_max: number): string {
  return text.length <= characters_max
    ? text
    : `${text.slice(0, characters_max - 1).toWellFormed()}…`
}
