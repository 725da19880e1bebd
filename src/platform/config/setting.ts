import { isIP } from 'node:net'
import { z } from 'zod'

/** Documentation of a setting. The reference page is generated from it. */
type SettingDocs<T> = {
  /** Unit of the value: `ms`, `bytes`, `messages`, `URL`, … */
  unit: string
  /** Meaning of the setting, and the reason for its default. */
  reason: string
  default?: T
}

/** Defines a setting that is a whole number within bounds. */
export function integer(
  docs: SettingDocs<number> & { min: number; max: number },
): z.ZodType<number> {
  const expected = `a whole number from ${docs.min} to ${docs.max}`
  const schema = z
    .string()
    .regex(/^-?\d+$/, `expected ${expected}`)
    .transform(Number)
    .refine((value) => value >= docs.min && value <= docs.max, `expected ${expected}`)
  return describeSetting(schema, docs, expected)
}

/** Defines a setting that is a port. 0 picks a free port; `off` is read as undefined. */
export function portOrOff(
  docs: SettingDocs<number> & { default: number },
): z.ZodType<number | undefined> {
  const expected = 'a whole number from 0 to 65535, or `off`'
  const schema = z
    .string()
    .regex(/^(\d+|off)$/, `expected ${expected}`)
    .transform((value) => (value === 'off' ? undefined : Number(value)))
    .refine((value) => value === undefined || value <= 65_535, `expected ${expected}`)
  return describeSetting<number | undefined>(schema, docs, expected)
}

/** Defines a setting that is one of several words. */
export function choice<const T extends string>(
  values: readonly [T, ...T[]],
  docs: SettingDocs<NoInfer<T>>,
): z.ZodType<T> {
  const expected = values.map((value) => `\`${value}\``).join(' or ')
  return describeSetting(z.enum(values, `expected ${expected}`), docs, expected)
}

/** Defines a setting that is `true` or `false` (or `1`, `0`). */
export function flag(docs: SettingDocs<boolean>): z.ZodType<boolean> {
  const schema = z
    .enum(['true', 'false', '1', '0'], 'expected `true` or `false`')
    .transform((value) => value === 'true' || value === '1')
  return describeSetting(schema, docs, '`true` or `false`')
}

/** Defines a setting that is text. Without a default it is optional. */
export function text(docs: SettingDocs<string> & { required: true }): z.ZodType<string>
export function text(docs: SettingDocs<string> & { default: string }): z.ZodType<string>
export function text(docs: SettingDocs<string>): z.ZodType<string | undefined>
export function text(
  docs: SettingDocs<string> & { required?: true },
): z.ZodType<string | undefined> {
  const schema = z.string().min(1, 'expected a text that is not empty')
  return describeSetting(docs.required ? schema : schema.optional(), docs, 'text')
}

/** Defines a setting that is an absolute URL with one of the schemes. */
export function url(
  schemes: readonly string[],
  docs: SettingDocs<string> & { default: string },
): z.ZodType<string>
export function url(
  schemes: readonly string[],
  docs: SettingDocs<string>,
): z.ZodType<string | undefined>
export function url(
  schemes: readonly string[],
  docs: SettingDocs<string>,
): z.ZodType<string | undefined> {
  const expected = `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  const schema = z
    .string()
    .refine(
      (value) => schemes.includes(URL.parse(value)?.protocol.slice(0, -1) ?? ''),
      `expected ${expected}`,
    )
  return describeSetting(schema.optional(), docs, expected)
}

/**
 * Defines a setting that is an origin, read without a slash at its end: a scheme, a host and
 * possibly a port.
 */
export function origin(docs: SettingDocs<string>): z.ZodType<string | undefined> {
  const expected = 'an origin such as `https://looptrace.example.com`, without a path'
  const schema = z
    .string()
    .refine(isOrigin, `expected ${expected}`)
    .transform((value) => new URL(value).origin)
  return describeSetting(schema.optional(), docs, expected)
}

function isOrigin(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.href === `${url.origin}/` && !/[?#]/.test(value)
}

/** Defines a setting that is a list of origins. It is empty by default. */
export function origins(docs: SettingDocs<never>): z.ZodType<string[]> {
  const expected = 'origins such as `https://app.example.com`, separated by commas, without `*`'
  const schema = z
    .string()
    .transform((value) => value.split(',').map((one) => one.trim()))
    .refine((all) => all.every(isOrigin), `expected ${expected}`)
    .transform((all) => [...new Set(all.map((one) => new URL(one).origin))])
  const optional = schema.optional().transform((all) => all ?? [])
  return describeSetting<string[]>(optional, docs, expected)
}

/** Defines a setting that is a list of IP addresses and CIDR blocks. It is empty by default. */
export function networks(docs: SettingDocs<never>): z.ZodType<string[]> {
  const expected = 'IP addresses or CIDR blocks of at least /1, separated by commas'
  const schema = z
    .string()
    .transform((value) => value.split(',').map((one) => one.trim()))
    .refine((all) => all.every(isNetwork), `expected ${expected}`)
  const optional = schema.optional().transform((all) => all ?? [])
  return describeSetting<string[]>(optional, docs, expected)
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  if (bits === undefined) return true
  const bits_max = family === 4 ? 32 : 128
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= bits_max
}

/** Defines a setting that is a secret, never shown in logs, errors or pages. */
export function secret(
  docs: Omit<SettingDocs<never>, 'unit'> & { min_characters?: number },
): z.ZodType<string | undefined> {
  const min = docs.min_characters ?? 1
  const schema = z.string().min(min, `expected at least ${min} characters`)
  return describeSetting(
    schema.optional(),
    { ...docs, unit: 'secret' },
    `at least ${min} characters`,
  )
}

/** Notes on a setting, beside its schema. */
export const settingNotes = z.registry<{
  unit: string
  reason: string
  expected: string
  default: string | undefined
}>()

/** Adds the notes and the default to the schema of a setting. */
export function describeSetting<T>(
  schema: z.ZodType<T>,
  docs: SettingDocs<T>,
  expected: string,
): z.ZodType<T> {
  const { unit, reason } = docs
  const fallback = docs.default
  // Parse the default like a set value: with `.default()`, `off` (undefined) would become the
  // default.
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
export const days = 24 * hours
export const kib = 1024
export const mib = 1024 * kib
export const gib = 1024 * mib
