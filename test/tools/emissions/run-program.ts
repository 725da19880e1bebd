import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clients, linesOf } from '../../../src/capabilities/onboarding/clients/clients.ts'
import type { Environment } from './environments.ts'
import type { Stack } from './stacks.ts'

const run = promisify(execFile)
const programs = join(import.meta.dirname, 'programs')

/** Where a program sends its calls and its telemetry, and how it makes the calls. */
export type ProgramTarget = { url: string; key: string; streamed: boolean }

/** Exports are made more often than a call takes, so that a run needs several. */
const export_ms = '100'
const timeout_ms = 120_000

/** Runs the program of a stack to its end. Rejects with the end of its output if it fails. */
export async function runProgram(
  stack: Stack,
  { folder, interpreter }: Environment,
  { url, key, streamed }: ProgramTarget,
): Promise<void> {
  const { language, program, args = [], env = {} } = stack
  const file = language === 'python' ? join(programs, program) : join(folder, program)
  if (language === 'node') {
    // Node looks for packages beside the file.
    for (const name of [program, 'stack.mjs']) {
      await copyFile(join(programs, name), join(folder, name))
    }
    const lines = linesFor(stack, url)
    const [, name] = /^const (\w+) =/m.exec(lines) ?? []
    await writeFile(join(folder, 'connected.mjs'), `${lines}\nexport { ${name} as provider }\n`)
  }
  const variables = {
    PATH: process.env['PATH'],
    PYTHONDONTWRITEBYTECODE: '1',
    STACK_LINES: linesFor(stack, url),
    LOOPTRACE_API_KEY: key,
    OPENAI_API_KEY: 'provider-key',
    ANTHROPIC_API_KEY: 'provider-key',
    GEMINI_API_KEY: 'provider-key',
    GOOGLE_GENERATIVE_AI_API_KEY: 'provider-key',
    STACK_STREAMED: streamed ? '1' : '0',
    ...telemetryVariables({ url, key }),
    ...env,
  }
  try {
    await run(interpreter, [file, ...args], {
      ...{ env: variables, cwd: folder, timeout: timeout_ms, maxBuffer: 64 * 1024 * 1024 },
    })
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`${program} failed: ${`${stdout}\n${stderr}`.trim().slice(-1500)}`, { cause })
  }
}

/** Returns the lines that a user of the stack pastes. */
function linesFor({ client }: Stack, url: string): string {
  const found = clients.find(({ name }) => name === client)
  if (found === undefined) throw new Error(`looptrace connect has no client ${client}`)
  return linesOf(found, { url }).join('\n')
}

/** The variables of OpenTelemetry and of Langfuse that a user sets for Looptrace. */
function telemetryVariables({ url, key }: { url: string; key: string }) {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${key}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_SERVICE_NAME: 'repair',
    OTEL_BSP_SCHEDULE_DELAY: export_ms,
    OTEL_BLRP_SCHEDULE_DELAY: export_ms,
    // Content, for instrumentations that leave it out without this.
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    LANGFUSE_HOST: url,
    LANGFUSE_PUBLIC_KEY: 'pk-lf-looptrace',
    LANGFUSE_SECRET_KEY: key,
    LANGFUSE_FLUSH_AT: '3',
  }
}
