import { sleep } from '../src/kernel/time.ts'
import { type Api, apiByKey } from '../test/support/clients/api-reader.ts'
import { startSingleMachine } from '../test/support/single-machine.ts'
import { chooseStacks, runEach } from '../test/tools/emissions/each-stack.ts'
import { environmentOf } from '../test/tools/emissions/environments.ts'
import {
  type RecordingServer,
  startRecordingServer,
} from '../test/tools/emissions/recording-server.ts'
import { runProgram } from '../test/tools/emissions/run-program.ts'
import { agentCases, usageOf } from '../test/tools/emissions/scripted-agent.ts'
import type { Stack } from '../test/tools/emissions/stacks.ts'

/**
 * Runs stacks through the whole product: `node scripts/run-stacks.ts [stack…]`. Each program makes its calls
 * through the proxy and exports to the OTLP endpoint, with the lines of `looptrace connect`, and repeats
 * one tool call. Prints for each what the service holds of it. Stacks that fail are named at the end, with exit
 * status 1. Needs what `record-stacks.ts` needs.
 */
const chosen = chooseStacks(process.argv.slice(2))
const agent = agentCases.loop
const steps = agent.paths.length + 1
const tokens_wanted = Array.from({ length: steps }, (_, at) => usageOf(at)).reduce(
  (sum, { input, output }) => sum + input + output,
  0,
)

type Task = { task_id: string; calls: number; errors: number; tokens: { total: number } }

async function runStack(
  stack: Stack,
  { url, key, api, provider }: { url: string; key: string; api: Api; provider: RecordingServer },
): Promise<string> {
  const environment = await environmentOf(stack)
  const cells: string[] = []
  for (const streamed of [false, true]) {
    const from = new Date().toISOString()
    provider.begin(agent)
    await runProgram(stack, environment, { url, key, streamed })
    const came = provider.received().filter(({ call }) => call !== undefined).length
    if (came === 0) throw new Error(`no call passed (${streamed ? 'streamed' : 'whole'})`)
    const tasks = await settledTasks(api, from)
    const tokens = tasks.reduce((sum, task) => sum + task.tokens.total, 0)
    const calls = tasks.reduce((sum, task) => sum + task.calls, 0)
    const loops = await Promise.all(tasks.map(({ task_id }) => loopsOf(api, task_id)))
    const found = loops.some((count) => count > 0) ? 'loop found' : 'no loop'
    const exact = tokens === tokens_wanted ? 'exact' : `${tokens} of ${tokens_wanted} tokens`
    cells.push(`${came} passed, ${calls} counted in ${tasks.length} tasks, ${exact}, ${found}`)
    // The next case begins at another instant than the last activity of this one.
    await sleep(1_000)
  }
  return `| ${[stack.name, ...cells].join(' | ')} |`
}

/** Returns the tasks with activity since an instant, once they have not changed for some seconds. */
async function settledTasks(api: Api, from: string): Promise<Task[]> {
  let before = ''
  for (let same = 0; ; ) {
    const { body } = await api.get(`/api/v1/tasks?limit=100&from=${encodeURIComponent(from)}`)
    const tasks = (body['tasks'] as Task[]).filter(({ calls }) => calls > 0)
    const text = JSON.stringify(tasks.map(({ task_id, calls, tokens }) => [task_id, calls, tokens]))
    same = text === before ? same + 1 : 0
    if (same >= quietLooks) return tasks
    before = text
    await sleep(1_000)
  }
}

/** Detection follows the rows; it rests a moment before it reads a task again. */
const quietLooks = 5

async function loopsOf(api: Api, task_id: string): Promise<number> {
  const { body } = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}/loops`)
  return (body['loops'] as unknown[] | undefined)?.length ?? 0
}

await using provider = await startRecordingServer()
await using machine = await startSingleMachine({
  env: {
    LOOPTRACE_OPENAI_BASE_URL: `${provider.url}/v1`,
    LOOPTRACE_ANTHROPIC_BASE_URL: `${provider.url}/v1`,
    LOOPTRACE_GEMINI_BASE_URL: `${provider.url}/v1beta/openai`,
    LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
  },
})
const { base_url: url } = machine.service
const api = apiByKey({ api_url: url, login: machine.login })
console.log('| stack | whole | streamed |\n|---|---|---|')
await runEach(chosen, async (stack) => {
  const key = machine.login.project_key
  console.log(await runStack(stack, { url, key, api, provider }))
})
