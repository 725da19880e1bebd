import { answerOption, type Command } from '../command.ts'
import { aboutCredentials, pageOptions, readStatuses } from '../list-options.ts'
import { taskFilters, taskOrder } from './task-options.ts'

/** `looptrace tasks`: tasks with their verdicts. */
export const tasksCommand: Command = {
  words: 'tasks',
  summary: 'Lists tasks with verdict, state, tokens and cost, newest first',
  synopsis: '[options]',
  about: [
    'Times are in the local time zone (TZ), which the last line names. With --all, pages are read until the list\n' +
      'ends.',
    aboutCredentials('tasks:read'),
  ],
  options: { ...taskFilters, ...taskOrder, ...pageOptions, output: answerOption },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace tasks', about: 'the newest tasks' },
    { command: 'looptrace tasks --finding-kind loop --from 1d', about: 'loops of the last day' },
    {
      command: 'looptrace tasks --sort wasted_cost_usd --limit 10',
      about: 'the most expensive faults',
    },
    { command: 'looptrace tasks --severity-min high --all -o json', about: 'for a script' },
  ],
  statuses: readStatuses,
  load: async () => (await import('./list-tasks.ts')).listTasks,
}

/** `looptrace task`: one task with its verdict and steps. */
export const taskCommand: Command = {
  words: 'task',
  summary: 'Shows a task: verdict, root cause, findings and steps',
  synopsis: '<id> [options]',
  about: [
    'The id is the X-Task-ID, or the trace id of a call without one. The iterations of a loop are one line with\n' +
      '×n, as its finding says. Arguments and results of tools are cut. With -o json, the answer has the replies\n' +
      'of the routes of the task, its findings and its timeline.',
    aboutCredentials('tasks:read'),
  ],
  options: {
    full: {
      about: 'Show each iteration of a loop, and arguments and results without cutting them.',
    },
    output: answerOption,
  },
  words_min: 1,
  words_max: 1,
  examples: [
    { command: 'looptrace task refund-1042', about: 'why it went wrong' },
    { command: 'looptrace task refund-1042 --full', about: 'each step with whole contents' },
  ],
  statuses: readStatuses,
  load: async () => (await import('./show-task.ts')).showTask,
}

/** `looptrace tail`: new and changed tasks as they come. */
export const tailCommand: Command = {
  words: 'tail',
  summary: 'Follows tasks: prints each new or changed one until Ctrl-C',
  synopsis: '[options]',
  about: [
    'Asks the API again and again. A task is printed when it is new, has more calls, ends, stalls or gets another\n' +
      'verdict. While the API does not answer, for example while it restarts, it is asked less often. With\n' +
      '-o json, each line is a task as JSON.',
    aboutCredentials('tasks:read'),
  ],
  options: {
    ...taskFilters,
    last: { value: '<n>', about: 'Tasks that are printed at the start, 0–100. Default: 10.' },
    interval: { value: '<seconds>', about: 'Time between two requests, 1–60. Default: 2.' },
    output: answerOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace tail', about: 'all tasks of the project' },
    { command: 'looptrace tail --severity-min high', about: 'only what went wrong' },
    { command: 'looptrace tail --last 0 -o json', about: 'for a script: one JSON object a line' },
  ],
  statuses: {
    0: 'Stopped by Ctrl-C or SIGTERM.',
    2: 'The command line or a setting is invalid, or the API refuses a value.',
    3: 'The API did not answer the first request, or refuses the credentials.',
  },
  load: async () => (await import('./tail.ts')).tail,
}
