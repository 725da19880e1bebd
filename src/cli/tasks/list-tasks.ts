import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { pageEndText, parametersFrom } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, type ProjectApi, readAnswer, readPages } from '../project-api.ts'
import { taskFilters, taskOrder, taskParameters } from './task-options.ts'
import { taskList } from './task-replies.ts'
import { taskTable } from './task-table.ts'

/** Prints a page of tasks, or all pages, filtered and sorted by the API. */
export async function listTasks(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const options = { ...taskFilters, ...taskOrder }
  const parameters = parametersFrom(args, options, { io, names: taskParameters })
  const answer = await readPages((page) => askTasks(api, parameters, page), {
    items: 'tasks',
    args,
    api,
  })
  const list = readAnswer(taskList, answer, api)
  io.out(render(args, answer, () => pageOf(list, io)))
  return exitStatus.ok
}

/** Asks for a page of tasks. Throws like `askApi`. */
export function askTasks(
  api: ProjectApi,
  parameters: URLSearchParams,
  { cursor, limit }: { cursor: string | undefined; limit: number | undefined },
): Promise<unknown> {
  const asked = new URLSearchParams(parameters)
  if (cursor !== undefined) asked.set('cursor', cursor)
  if (limit !== undefined) asked.set('limit', String(limit))
  return api.get('/api/v1/tasks', asked)
}

function pageOf({ tasks, total, next_cursor }: ReturnType<typeof taskList.parse>, io: CommandIo) {
  if (tasks.length === 0) return 'No tasks found.\n'
  const end = pageEndText({ shown: tasks.length, total, next_cursor }, 'task')
  const about = `${end}\nTimes are in ${io.time_zone}. looptrace task <id> shows the steps of a task.`
  return `${taskTable(tasks, io)}\n${about}\n`
}
