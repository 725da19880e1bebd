import { isEnd, type Message } from '../messages/message.ts'
import type { Templates } from './channel.ts'
import { type Escape, fillTemplate, sentenceOf, withoutLinks } from './templates.ts'

/** The texts of a message. */
export type MessageText = { title: string; body: string }

const title_characters_max = 250
const body_characters_max = 6000

const defaultTitle = '#{{number}} {{title}}'

/** Lines of the default text. A line is left out if its last placeholder is empty. */
const defaultLines: readonly (readonly [line: string, needs: string])[] = [
  ['{{reason}} ({{severity}}) at {{at}}', '{{at}}'],
  ['{{summary}}', '{{summary}}'],
  ['Found: {{evidence}}', '{{evidence}}'],
  ['Limit: {{threshold}}', '{{threshold}}'],
  ['Note: {{note}}', '{{note}}'],
  ['Where: {{group}}', '{{group}}'],
  ['Task: {{task}}', '{{task}}'],
  ['Trace: {{trace}}', '{{trace}}'],
  ['Step: {{step}}', '{{step}}'],
  ['Assigned to: {{assignee}}', '{{assignee}}'],
  ['Rule {{rule}}, open since {{opened_at}}', '{{opened_at}}'],
  ['Runbook: {{runbook_url}}', '{{runbook_url}}'],
  ['Open the incident: {{link}}', '{{link}}'],
  ['Open the task: {{task_link}}', '{{task_link}}'],
  ['Open the trace: {{trace_link}}', '{{trace_link}}'],
  ['{{ack_link}}', '{{ack_link}}'],
  ['{{resolve_link}}', '{{resolve_link}}'],
  ['{{snooze_link}}', '{{snooze_link}}'],
]

/** Escapes nothing, for texts without markup. */
export const plain: Escape = Object.assign((value: string) => value, {
  link: (url: string, text?: string) => (text === undefined ? url : `${text}: ${url}`),
})

/** Returns the texts of a message, by the templates of the channel or the default. */
export function textOf(message: Message, templates: Templates, escaped: Escape): MessageText {
  const fill = (text: string) => fillTemplate(text, message, escaped)
  const known = defaultLines.filter(([, needs]) => fill(needs) !== '').map(([line]) => fill(line))
  const lines = [...known, ...exampleLines(message, escaped)]
  return {
    title: cut(fill(templates.title ?? defaultTitle), title_characters_max),
    body: cut(
      templates.body === undefined ? lines.join('\n') : fill(templates.body),
      body_characters_max,
    ),
  }
}

/** Returns the lines of the calls or findings that show why a measured rule fired. */
function exampleLines({ details }: Message, escaped: Escape): string[] {
  const examples = details?.examples ?? []
  if (examples.length === 0) return []
  const lines = examples.map((one) => {
    const places = [
      ...(one.task_id === undefined ? [] : [`task ${one.task_id}`]),
      ...(one.trace_id === undefined ? [] : [`trace ${one.trace_id}`]),
    ]
    const text = [sentenceOf(one), places.join(', ')].filter((part) => part !== '').join(' ')
    return escaped(withoutLinks(`- ${text}`)).slice(0, maxExampleCharacters)
  })
  return ['For example:', ...lines]
}

const maxExampleCharacters = 500

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
