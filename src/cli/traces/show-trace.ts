import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { parametersFrom } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, readAnswer } from '../project-api.ts'
import { tracePage } from './trace-page.ts'
import { traceReply } from './trace-reply.ts'
import { treeOptions } from './tree-options.ts'

const defaults = { depth: '5', limit: '200' }

/** Prints a trace as a tree. */
export async function showTrace(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const parameters = new URLSearchParams({
    ...defaults,
    ...Object.fromEntries(parametersFrom(args, treeOptions, { io })),
  })
  const id = encodeURIComponent(args.words[0] ?? '')
  const answer = await api.get(`/api/v2/observability/traces/${id}/explorer`, parameters)
  const trace = readAnswer(traceReply, answer, api)
  const depth_max = Number(parameters.get('depth'))
  io.out(render(args, answer, () => tracePage(trace, io, { depth_max })))
  return exitStatus.ok
}
