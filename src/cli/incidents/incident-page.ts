import type { CommandIo, Style } from '../command.ts'
import { severityStyle, timeText, zonedTimeText } from '../terminal/formats.ts'
import { belowLines, tableOf } from '../terminal/table.ts'
import { oneLine } from '../terminal/terminal-text.ts'
import type { IncidentDetail } from './incident-replies.ts'

/** Returns the style of the state of an incident. */
export function incidentStateStyle(state: string): Style {
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
