import { z } from 'zod'
import { type Fault, problem } from '../../../kernel/problem.ts'
import { expected } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import { type Verifier, type VerifierName, verifierNames } from '../contract.ts'

/** Maximum characters of a verifier's name in an error. */
const name_chars_max = 80

const verifierName = z
  .string()
  .min(1)
  .max(name_chars_max)
  .describe(`One of ${verifierNames.map((name) => `\`${name}\``).join(', ')}.`)

const verifierEntry = z
  .union(
    [
      verifierName,
      record('VerifierRequest', {
        name: verifierName,
        options: z
          .record(z.string().max(name_chars_max), z.unknown())
          .default({})
          .describe('Options of the verifier, see `GET /api/v1/verification/config`.'),
      }),
    ],
    { error: expected('the name of a verifier, or an object with its name') },
  )
  .meta({ id: 'RequestedVerifier' })

/** A list of verifiers, each a name or a name with options. */
export const verifierList = z
  .array(verifierEntry, { error: expected('a list of verifiers, or null') })
  .min(1, { error: expected('at least one verifier; null means all that are available') })
  .max(verifierNames.length, { error: `expected at most ${verifierNames.length} verifiers` })
  .nullable()
  .superRefine(refuseUnstorable)

/** A verifier with all of its options, as a run stores it. */
export type RequestedVerifier = { name: VerifierName; options: Record<string, unknown> }

/**
 * Returns the requested verifiers with all options; for null those that are available. Throws
 * `invalid_request` for an unknown verifier or option, and for one that is listed twice.
 */
export function chooseVerifiers(
  verifiers: ReadonlyMap<VerifierName, Verifier>,
  list: z.output<typeof verifierList>,
): RequestedVerifier[] {
  if (list === null) {
    return [...verifiers.values()]
      .filter((verifier) => verifier.unavailable() === undefined)
      .map(({ name, options }) => ({ name, options: options.parse({}) }))
  }
  const faults: Fault[] = []
  const chosen = list.map((entry, at) => {
    const { name, options } = typeof entry === 'string' ? { name: entry, options: {} } : entry
    const pointer = `/verifiers/${at}${typeof entry === 'string' ? '' : '/name'}`
    const verifier = verifiers.get(name as VerifierName)
    if (verifier === undefined) {
      const known = [...verifiers.keys()].join(', ')
      faults.push({ pointer, detail: `got ${JSON.stringify(name)}, expected one of ${known}` })
      return undefined
    }
    if (list.slice(0, at).some((other) => nameOf(other) === name)) {
      faults.push({ pointer, detail: `got ${JSON.stringify(name)} twice; list it once` })
    }
    return readOptions(verifier, options, { pointer: `/verifiers/${at}/options`, faults })
  })
  const [first] = faults
  if (first !== undefined) {
    throw problem('invalid_request', { detail: `${first.pointer}: ${first.detail}`, faults })
  }
  return chosen.filter((one) => one !== undefined)
}

function nameOf(entry: string | { name: string }): string {
  return typeof entry === 'string' ? entry : entry.name
}

const faults_max = 20

function readOptions(
  { name, options }: Verifier,
  given: Record<string, unknown>,
  { pointer, faults }: { pointer: string; faults: Fault[] },
): RequestedVerifier | undefined {
  const parsed = options.strict().safeParse(given)
  if (parsed.success) return { name, options: parsed.data }
  for (const issue of parsed.error.issues.slice(0, faults_max)) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined]
    for (const key of keys.slice(0, faults_max)) {
      const path = [...issue.path, ...(key === undefined ? [] : [key])].map(String)
      const steps = path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      const detail =
        key === undefined ? issue.message : `${JSON.stringify(key)} is not an option of ${name}`
      faults.push({ pointer: `${pointer}${steps.join('')}`, detail })
    }
  }
  return undefined
}
