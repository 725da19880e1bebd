import { z } from 'zod'

/** Documentation of a setting. The reference page is generated from it. */
type About<T> = {
  /** Unit of the value: `ms`, `bytes`, `messages`, `URL`, … */
  unit: string
  /** What the setting means, and why it has this default. */
  reason: string
  default?: T
}

/** Defines a setting that is a whole number within bounds. */
export function integer(about: About<number> & { min: number; max: number }): z.ZodType<number> {
  const expected = `a whole number from ${about.min} to ${about.max}`
  const schema = z
    .string()
    .regex(/^-?\d+$/, `expected ${expected}`)
    .transform(Number)
    .refine((value) => value >= about.min && value <= about.max, `expected ${expected}`)
  return described(schema, about, expected)
}

/** Defines a setting that is a port. 0 picks a free port; `off` is read as undefined. */
export function portOrOff(
  about: About<number> & { default: number },
): z.ZodType<number | undefined> {
  const expected = 'a whole number from 0 to 65535, or `off`'
  const schema = z
    .string()
    .regex(/^(\d+|off)$/, `expected ${expected}`)
    .transform((value) => (value === 'off' ? undefined : Number(value)))
    .refine((value) => value === undefined || value <= 65_535, `expected ${expected}`)
  return described<number | undefined>(schema, about, expected)
}

/** Defines a setting that is one of several words. */
export function choice<const T extends string>(
  values: readonly [T, ...T[]],
  about: About<NoInfer<T>>,
): z.ZodType<T> {
  const expected = values.map((value) => `\`${value}\``).join(' or ')
  return described(z.enum(values, `expected ${expected}`), about, expected)
}

/** Defines a setting that is `true` or `false` (or `1`, `0`). */
export function flag(about: About<boolean>): z.ZodType<boolean> {
  const schema = z
    .enum(['true', 'false', '1', '0'], 'expected `true` or `false`')
    .transform((value) => value === 'true' || value === '1')
  return described(schema, about, '`true` or `false`')
}

/** Any text. Without a default it may be left out and is undefined. */
export function text(about: About<string> & { required: true }): z.ZodType<string>
export function text(about: About<string> & { default: string }): z.ZodType<string>
export function text(about: About<string>): z.ZodType<string | undefined>
export function text(about: About<string> & { required?: true }): z.ZodType<string | undefined> {
  const schema = z.string().min(1, 'expected a text that is not empty')
  return described(about.required ? schema : schema.optional(), about, 'text')
}

/** An absolute URL of one of the schemes. */
export function url(
  schemes: readonly string[],
  about: About<string> & { default: string },
): z.ZodType<string>
export function url(schemes: readonly string[], about: About<string>): z.ZodType<string | undefined>
export function url(
  schemes: readonly string[],
  about: About<string>,
): z.ZodType<string | undefined> {
  const expected = `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  const schema = z
    .string()
    .refine(
      (value) => schemes.includes(URL.parse(value)?.protocol.slice(0, -1) ?? ''),
      `expected ${expected}`,
    )
  return described(schema.optional(), about, expected)
}

/** Text that no log, error or page may show. */
export function secret(
  about: Omit<About<never>, 'unit'> & { min_characters?: number },
): z.ZodType<string | undefined> {
  const min = about.min_characters ?? 1
  const schema = z.string().min(min, `expected at least ${min} characters`)
  return described(schema.optional(), { ...about, unit: 'secret' }, `at least ${min} characters`)
}

/** What the registry keeps of a setting beside its schema. */
export const settingNotes = z.registry<{
  unit: string
  reason: string
  expected: string
  default: string | undefined
}>()

function described<T>(schema: z.ZodType<T>, about: About<T>, expected: string): z.ZodType<T> {
  const { unit, reason } = about
  const fallback = about.default
  // Read as if it had been set: a value that reads as undefined, as `off`, would get the default.
  const whole = fallback === undefined ? schema : schema.prefault(String(fallback))
  settingNotes.add(whole, {
    unit,
    reason,
    expected,
    default: fallback === undefined ? undefined : String(fallback),
  })
  return whole as z.ZodType<T>
}

/** Units for the values of settings: durations in ms, sizes in bytes. */
export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes
export const kib = 1024
export const mib = 1024 * kib
export const gib = 1024 * mib
