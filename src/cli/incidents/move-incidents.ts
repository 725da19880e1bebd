import { printable } from '../../kernel/printable.ts'
import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { render } from '../output.ts'
import { openProjectApi, readAnswer } from '../project-api.ts'
import { ackReply, incidentReply } from './incident-replies.ts'
import { incidentName, incidentsPath } from './show-incidents.ts'

/** Acknowledges incidents. Exit status 1 if one of them does not exist. */
export async function acknowledge(args: Arguments, io: CommandIo): Promise<number> {
  const incidents = args.words.map((word) => incidentName(word))
  const api = openProjectApi(io)
  const answer = await api.post(`${incidentsPath}/ack`, { incidents, ...noteOf(args) })
  const { results } = readAnswer(ackReply, answer, api)
  const page = () =>
    results
      .map(
        ({ incident, result }) =>
          `#${printable(incident)}: ${sentences[result] ?? printable(result)}\n`,
      )
      .join('')
  io.out(render(args, answer, page))
  const isMissing = results.some(({ result }) => result === 'not_found')
  return isMissing ? exitStatus.findings : exitStatus.ok
}

const sentences: Readonly<Record<string, string>> = {
  acknowledged: 'acknowledged',
  already: 'was acknowledged before',
  resolved: 'is resolved, so nothing changed',
  not_found: 'does not exist in this project',
}

/** Resolves an incident. */
export async function resolve(args: Arguments, io: CommandIo): Promise<number> {
  const name = incidentName(args.words[0] ?? '')
  const api = openProjectApi(io)
  const answer = await api.post(
    `${incidentsPath}/${encodeURIComponent(name)}/resolve`,
    noteOf(args),
  )
  const { number, title, state } = readAnswer(incidentReply, answer, api)
  io.out(render(args, answer, () => `#${number} ${printable(title)}: ${printable(state)}\n`))
  return exitStatus.ok
}

function noteOf(args: Arguments): { note?: string } {
  const note = args.value('note')
  return note === undefined ? {} : { note }
}
