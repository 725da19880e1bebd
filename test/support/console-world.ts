import type { Browser } from 'playwright-core'
import { expect } from 'vitest'
import { openChromium } from './chromium.ts'
import { apiByToken } from './clients/api-reader.ts'
import { ensureConsole } from './console.ts'
import { eventually } from './eventually.ts'
import { loopScript, runLoop } from './looping-agent.ts'
import { type SingleMachine, startSingleMachine } from './single-machine.ts'

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

/** Texts as an attacker writes them: markup, links, a hidden direction. */
const hostileName = '<img src=x onerror=alert(1)> [click](javascript:alert(2))'
const hostilePrompt = 'invoice_\u202efdp.exe <iframe src="//evil.test"></iframe>'
/** The task of the looping agent. */
export const loopedTask = 'looped/1 ?'

/** Role `all` with a looping agent that opened an incident, and a browser. */
export type ConsoleWorld = AsyncDisposable & {
  browser: Browser
  service: { base_url: string; login: SingleMachine['login'] }
  api: Awaited<ReturnType<typeof apiByToken>>
  incident_id: string
  /** Trace of the first call of the loop. */
  trace_id: string
}

const incidents = '/api/v2/observability/incidents'

/** Starts a world; undefined on a machine without Chromium. */
export async function openConsoleWorld(): Promise<ConsoleWorld | undefined> {
  const browser = await openChromium()
  if (browser === undefined) return undefined
  await using parts = new AsyncDisposableStack()
  parts.defer(() => browser.close())
  await ensureConsole()
  const machine = parts.use(await startSingleMachine({ script: loopScript }))
  const service = { base_url: machine.service.base_url, login: machine.login }
  const { project_id, project_key } = machine.login
  const api = await apiByToken({ api_url: service.base_url, login: machine.login })
  const of = `?project_id=${project_id}`
  const rule = {
    ...{ name: 'loops', severity: 'high', group_by: ['task_name'] },
    event: { match: { source: 'finding', kinds: ['loop'] } },
  }
  expect(await api.post(`${incidents}/rules${of}`, rule)).toMatchObject({ status: 201 })
  const key = { 'x-api-key': project_key, authorization: 'Bearer provider-key' }
  const url = `${service.base_url}/v1/chat/completions`
  await runLoop(url, { ...key, 'x-task-id': loopedTask, 'x-task-name': hostileName })
  const messages = [{ role: 'user', content: hostilePrompt }]
  await fetch(url, {
    method: 'POST',
    headers: { ...key, 'x-task-id': 'hostile', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages }),
  })
  const incident_id = await eventually('an incident is open', async () => {
    const { body } = await api.get(`${incidents}${of}`)
    return ((body as Json).incidents[0]?.incident_id as string | undefined) ?? false
  })
  const tree = await api.get(`/api/v1/tasks/${encodeURIComponent(loopedTask)}/explorer${of}`)
  const trace_id = (tree.body as Json).nodes[0].trace_id as string
  const all = parts.move()
  const dispose = () => all.disposeAsync()
  return { browser, service, api, incident_id, trace_id, [Symbol.asyncDispose]: dispose }
}
