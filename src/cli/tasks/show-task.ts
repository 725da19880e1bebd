import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { render } from '../output.ts'
import { openProjectApi, type ProjectApi, readAnswer } from '../project-api.ts'
import { taskPage } from './task-page.ts'
import { entryReply, findingList, taskReply, timelineReply } from './task-replies.ts'

/** Prints a task with its verdict, its findings and its steps. */
export async function showTask(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const path = `/api/v1/tasks/${encodeURIComponent(args.words[0] ?? '')}`
  // The task first: without it, one answer says what is wrong.
  const task = await api.get(path)
  const [findings, timeline] = await Promise.all([
    api.get(`${path}/findings`),
    readTimeline(api, path),
  ])
  const shown = {
    task: readAnswer(taskReply, task, api),
    ...readAnswer(findingList, findings, api),
    entries: timeline.entries.flatMap((entry) => entryReply.safeParse(entry).data ?? []),
    entries_total: timeline.total,
    is_whole: timeline.next_cursor === null,
  }
  const page = () => taskPage(shown, io, { is_full: args.flag('full') })
  io.out(render(args, { task, findings, timeline }, page))
  return exitStatus.ok
}

const page_size = 1_000
const pages_max = 5

/** Reads the timeline of a task, at most `pages_max` pages, as one page. */
async function readTimeline(api: ProjectApi, path: string) {
  const entries: unknown[] = []
  const asked = new URLSearchParams({ limit: String(page_size) })
  for (let page = 1; ; page++) {
    const answer = readAnswer(timelineReply, await api.get(`${path}/timeline`, asked), api)
    entries.push(...answer.entries)
    if (answer.next_cursor === null || page === pages_max) return { ...answer, entries }
    asked.set('cursor', answer.next_cursor)
  }
}
