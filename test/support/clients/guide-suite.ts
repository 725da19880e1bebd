import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { runPythonText } from '../python.ts'
import { apiByKey } from './api-reader.ts'
import type { ClientShape } from './client-shape.ts'
import { shownTask } from './shown-task.ts'

const repository = join(import.meta.dirname, '../../..')
const conversation = 'chat-42'

/** The programs of docs/guides/first-trace.md do what the guide says. */
export function guideSuite(shape: () => ClientShape): void {
  let guide: string
  beforeAll(async () => {
    guide = await readFile(join(repository, 'docs/guides/first-trace.md'), 'utf8')
  })

  /** A program of the guide, with the address of this service. */
  function program(language: string): string {
    const [, text = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(guide) ?? []
    expect(text).toContain('http://127.0.0.1:8080')
    return text.replaceAll('http://127.0.0.1:8080', shape().proxy_url)
  }
  const env = () => ({
    LOOPTRACE_API_KEY: shape().login.project_key,
    OPENAI_API_KEY: 'provider-key',
  })

  test('its agent in Node is a task of five entries', async () => {
    expect(await runNodeText(program('js'), env())).toBe('Both orders are on their way.\n')
    const sent = { task_id: 'parcel-7', conversation, calls: 2 }
    const { shown } = await shownTask(apiByKey(shape()), sent)
    expect(shown.task).toMatchObject({ name: 'Where is my parcel?', user_id: 'ada' })
    expect(shown.timeline.entries.map(({ role }) => role)).toEqual([
      'state_change',
      'model_call',
      'tool_call',
      'tool_result',
      'model_call',
    ])
  })

  test('its stream in Python is a task of the same conversation', async () => {
    expect(await runPythonText(program('python'), env())).toBe('You said: Say hello')
    const sent = { task_id: 'hello', conversation, calls: 1 }
    const { shown } = await shownTask(apiByKey(shape()), sent)
    expect(shown.conversation.tasks.map(({ task_id }) => task_id)).toEqual(['parcel-7', 'hello'])
  })
}

/** Runs a module from a file inside the repository, where it can import the packages. */
async function runNodeText(text: string, env: Record<string, string>): Promise<string> {
  const folder = join(repository, '.cache')
  const file = join(folder, `guide-${process.pid}.mjs`)
  await mkdir(folder, { recursive: true })
  await writeFile(file, text)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    return stdout
  } finally {
    await rm(file)
  }
}
