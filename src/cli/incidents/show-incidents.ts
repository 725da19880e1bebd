import type { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { pageEndText, parametersFrom } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, readAnswer, readPages } from '../project-api.ts'
import { severityStyle, timeText } from '../terminal/formats.ts'
import { type Cell, type Column, tableOf } from '../terminal/table.ts'
import { incidentFilters, incidentParameters } from './incident-options.ts'
import { incidentPage, incidentStateStyle } from './incident-page.ts'
import { incidentDetail, incidentList } from './incident-replies.ts'

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
