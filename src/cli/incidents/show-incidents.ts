import type { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { type Arguments, type CommandIo, exitStatus, type Style, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { pageEndText, parametersFrom } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, readAnswer, readPages } from '../project-api.ts'
import { severityStyle, timeText, zonedTimeText } from '../terminal/formats.ts'
import { belowLines, type Cell, type Column, tableOf } from '../terminal/table.ts'
import { oneLine } from '../terminal/terminal-text.ts'
import { incidentFilters, incidentParameters } from './incident-options.ts'
import { type IncidentDetail, incidentDetail, incidentList } from './incident-replies.ts'

/** The path of incidents in the API. */
export const incidentsPath = '/api/v2/observability/incidents'

/** Prints a page of incidents, or one incident with its evidence and timeline. */
export async function showIncidents(args: Arguments, io: CommandIo): Promise<number> {
  const [name] = args.words
  if (name !== undefined) return showIncident(incidentName(name, ['ack', 'resolve']), args, io)
  const api = openProjectApi(io)
  const parameters = parametersFrom(args, incidentFilters, { io, names: incidentParameters })
  const answer = await readPages(
    ({ cursor, limit }) => {
      const asked = new URLSearchParams(parameters)
      if (cursor !== undefined) asked.set('cursor', cursor)
      if (limit !== undefined) asked.set('limit', String(limit))
      return api.get(incidentsPath, asked)
    },
    { items: 'incidents', args, api },
  )
  const list = readAnswer(incidentList, answer, api)
  io.out(render(args, answer, () => listPage(list, io)))
  return exitStatus.ok
}

/** Returns the number or id of an incident. Throws `UsageError` for another word. */
export function incidentName(word: string, subcommands: readonly string[] = []): string {
  if (/^[1-9]\d{0,9}$/.test(word) || isUuid(word)) return word
  const hint = didYouMean(word, subcommands)
  throw new UsageError(`got "${word}", expected the number or id of an incident${hint}`)
}

async function showIncident(name: string, args: Arguments, io: CommandIo): Promise<number> {
  const given = [...Object.keys(incidentFilters), 'limit', 'cursor'].find(
    (option) => args.values(option).length > 0,
  )
  if (given !== undefined)
    throw new UsageError(`got --${given}, which is for the list of incidents`)
  const api = openProjectApi(io)
  const answer = await api.get(`${incidentsPath}/${encodeURIComponent(name)}`)
  const incident = readAnswer(incidentDetail, answer, api)
  io.out(render(args, answer, () => incidentPage(incident, io)))
  return exitStatus.ok
}

const columns: readonly Column[] = [
  { heading: 'NUMBER', align: 'right' },
  { heading: 'SEVERITY' },
  { heading: 'STATE' },
  { heading: 'OPENED' },
  { heading: 'RULE', shrinks_to: 16 },
  { heading: 'TITLE', shrinks_to: 30, below: true },
]

function listPage(
  { incidents, total, next_cursor }: z.output<typeof incidentList>,
  io: CommandIo,
): string {
  if (incidents.length === 0) return 'No incidents found.\n'
  const rows = incidents.map((one): Cell[] => [
    String(one.number),
    { text: one.severity, style: severityStyle(one.severity) },
    { text: one.state, style: incidentStateStyle(one.state) },
    timeText(one.opened_at, io),
    one.rule,
    one.title,
  ])
  const end = pageEndText({ shown: incidents.length, total, next_cursor }, 'incident')
  const about = `${end}\nTimes are in ${io.time_zone}. looptrace incidents <number> shows an incident.`
  return `${tableOf(columns, rows, { io })}\n${about}\n`
}

/** Returns the style of the state of an incident. */
function incidentStateStyle(state: string): Style {
  return state === 'open' ? 'red' : state === 'acknowledged' ? 'yellow' : 'green'
}

/** Formats an incident: facts, evidence and timeline. All texts of it are hostile. */
export function incidentPage(incident: IncidentDetail, io: CommandIo): string {
  const { number, title, state, severity, evidence, timeline } = incident
  const events = timeline.events.map((event) => [
    timeText(event.at, io),
    event.type,
    `${event.actor.type} ${event.actor.id}`,
    event.note ?? '',
  ])
  const columns = [
    'AT',
    'EVENT',
    { heading: 'BY', shrinks_to: 12 },
    { heading: 'NOTE', shrinks_to: 20, below: true as const },
  ]
  const more = timeline.total - events.length
  return [
    `${io.styled('bold', `#${number}`)}  ${oneLine(title)}`,
    [
      io.styled(incidentStateStyle(state), oneLine(state)),
      io.styled(severityStyle(severity), oneLine(severity)),
      ...flagsOf(incident).map((flag) => io.styled('yellow', flag)),
    ].join('  '),
    ...factLines(incident, io),
    '',
    io.styled('bold', 'EVIDENCE'),
    ...(evidence.length === 0 ? ['  none'] : evidence.flatMap((one) => evidenceLines(one, io))),
    '',
    io.styled('bold', 'TIMELINE'),
    tableOf(columns, events, { io }).trimEnd(),
    ...(more > 0 ? [`${more} later events are left out.`] : []),
    '',
    `Times are in ${io.time_zone}.`,
    '',
  ].join('\n')
}

function flagsOf({ suppressed, flapping, shadow }: IncidentDetail): string[] {
  return [
    ...(suppressed ? ['suppressed'] : []),
    ...(flapping ? ['flapping'] : []),
    ...(shadow ? ['shadow'] : []),
  ]
}

function factLines(incident: IncidentDetail, io: CommandIo): string[] {
  const { rule, signal, group, series, deliveries } = incident
  const measured = series?.points.findLast(({ value }) => value !== null)
  const facts: [string, string | null][] = [
    ['opened', zonedTimeText(incident.opened_at, io)],
    ['acknowledged', zonedTimeText(incident.acknowledged_at, io)],
    ['resolved', zonedTimeText(incident.resolved_at, io)],
    ['snoozed until', zonedTimeText(incident.snoozed_until, io)],
    ['assignee', incident.assignee],
    ['rule', `${rule}, signal ${signal}`],
    [
      'group',
      Object.entries(group)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ],
    [
      'latest value',
      measured === undefined
        ? null
        : `${measured.value}${series?.threshold == null ? '' : `, threshold ${series.threshold}`}`,
    ],
    ['runbook', incident.runbook_url],
    [
      'messages',
      `${deliveries.delivered} delivered, ${deliveries.waiting} waiting, ${deliveries.dead} failed`,
    ],
  ]
  return facts.flatMap(([label, text]) =>
    text === null || text === '' ? [] : belowLines({ text: `${label}: ${text}` }, io),
  )
}

function evidenceLines(evidence: IncidentDetail['evidence'][number], io: CommandIo): string[] {
  const { kind, type, finding, summary, value, task_id, trace_id, at } = evidence
  const facts = [
    type === undefined ? kind : `${kind} ${type}`,
    finding?.summary ?? summary ?? '',
    value == null ? '' : `value ${value}`,
    `at ${timeText(at, io)}`,
  ].filter((fact) => fact !== '')
  const next = [
    ...(task_id === undefined ? [] : [`looptrace task ${task_id}`]),
    ...(trace_id === undefined ? [] : [`looptrace trace ${trace_id}`]),
  ]
  return [
    ...belowLines({ text: oneLine(facts.join(', ')), wraps: true }, io),
    ...next.flatMap((text) => belowLines({ text, style: 'dim' }, io, evidenceIndent)),
  ]
}

const evidenceIndent = 4
