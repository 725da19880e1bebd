import { readFile } from 'node:fs/promises'
import { eventually } from './eventually.ts'
import { startSingleMachine } from './single-machine.ts'

/**
 * Runs role `all` with a provider on this machine, makes a call, reads its task back, and writes what
 * it saw with the count of sends that found no route. Run it in a network without one.
 */
await using machine = await startSingleMachine({ env: { LOOPTRACE_DEMO: '1' }, first: true })
const { service, login } = machine
const call = await fetch(`${service.base_url}/v1/chat/completions`, {
  method: 'POST',
  headers: {
    ...{ 'x-api-key': login.project_key, authorization: 'Bearer sk-provider' },
    ...{ 'content-type': 'application/json', 'x-task-id': 'offline' },
  },
  body: JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hello' }] }),
})
const task = await eventually('the task is stored', async () => {
  const headers = { 'x-api-key': login.project_key }
  const reply = await fetch(`${service.base_url}/api/v1/tasks/offline`, { headers })
  return reply.ok ? ((await reply.json()) as { task_id: string; cost_usd: string }) : undefined
})
const page = await fetch(`${service.base_url}/docs`)
const [names = '', values = ''] = (await readFile('/proc/net/snmp', 'utf8'))
  .split('\n')
  .filter((line) => line.startsWith('Ip:'))
const without_route = Number(values.split(' ')[names.split(' ').indexOf('OutNoRoutes')])
console.log(
  JSON.stringify({ call: call.status, task: task.task_id, page: page.status, without_route }),
)
