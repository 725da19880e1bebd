import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Exceptions } from './exceptions.ts'

const advisory = z.object({
  title: z.string(),
  url: z.string(),
  severity: z.enum(['info', 'low', 'moderate', 'high', 'critical']),
  range: z.string(),
  name: z.string(),
})

/** The part of the report of `npm audit --json` that is read. `via` names packages, too. */
const reportSchema = z.object({
  auditReportVersion: z.number(),
  vulnerabilities: z.record(
    z.string(),
    z.object({ via: z.array(z.union([advisory, z.string()])) }),
  ),
})

/** A known vulnerability of a package. */
export type Advisory = z.output<typeof advisory>

/** The result of an audit; `unavailable` is the reason when the registry did not answer. */
export type Audit = { advisories: Advisory[] } | { unavailable: string }

/** Time-out of one request. npm does not repeat it. */
const timeout_ms = 10_000

/** Asks the registry of npm for advisories on the production dependencies of a folder. */
export async function auditDependencies(
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Audit> {
  const limits = [`--fetch-timeout=${timeout_ms}`, '--fetch-retries=0']
  const words = ['audit', '--omit=dev', '--json', '--package-lock-only', ...limits]
  try {
    const options = { cwd: folder, env, timeout: 3 * timeout_ms, maxBuffer: 2 ** 26 }
    return readAudit((await promisify(execFile)('npm', words, options)).stdout)
  } catch (error) {
    // npm exits with 1 for advisories, and when the registry does not answer.
    const { stdout = '' } = error as { stdout?: string }
    return stdout === '' ? { unavailable: String(error) } : readAudit(stdout)
  }
}

/** Reads the output of `npm audit --json`. */
export function readAudit(text: string): Audit {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { unavailable: `npm audit printed no JSON: ${text.slice(0, 200)}` }
  }
  const report = reportSchema.safeParse(value)
  if (!report.success) {
    const { message } = z.object({ message: z.string() }).safeParse(value).data ?? {}
    return { unavailable: message ?? 'npm audit printed no report' }
  }
  const found = Object.values(report.data.vulnerabilities).flatMap(({ via }) =>
    via.filter((each) => typeof each !== 'string'),
  )
  return { advisories: [...new Map(found.map((each) => [each.url, each])).values()] }
}

/** What an audit means for a build. */
export type AuditVerdict = { faults: string[]; notes: string[] }

const stopping = new Set(['high', 'critical'])

/**
 * Returns the faults of an audit on a day (`2026-11-24`): advisories of severity high or critical
 * without an exception, and exceptions that have expired. The rest is noted.
 */
export function judgeAudit(
  advisories: readonly Advisory[],
  { advisories: exceptions }: Pick<Exceptions, 'advisories'>,
  today: string,
): AuditVerdict {
  const faults: string[] = []
  const notes: string[] = []
  for (const { name, severity, title, url, range } of advisories) {
    const text = `${name} ${range}: ${severity}: ${title} (${url})`
    const exception = exceptions.find((each) => each.url === url && each.package === name)
    if (exception === undefined) (stopping.has(severity) ? faults : notes).push(text)
    else if (exception.expires < today) faults.push(`${text}; its exception has expired`)
    else notes.push(`${text}; accepted until ${exception.expires}: ${exception.reason}`)
  }
  for (const { url, package: name } of exceptions) {
    if (advisories.some((each) => each.url === url && each.name === name)) continue
    notes.push(`${name}: the exception for ${url} is no longer needed`)
  }
  return { faults, notes }
}
