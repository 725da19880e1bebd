import { z } from 'zod'
import { parsedJson } from '../../kernel/json-values.ts'
import { organizationRoles, projectRoles } from '../../kernel/scopes.ts'
import { describeSetting } from './setting.ts'

const entries_max = 1_000
const name = z.string().min(1).max(200)

const groupRoleSchema = z.union([
  z.strictObject({ group: name, organization: name, role: z.enum(organizationRoles) }),
  z.strictObject({ group: name, organization: name, project: name, role: z.enum(projectRoles) }),
])

/**
 * A role that a group of the external issuer gives: in an organization, or in one of its projects.
 * Organizations and projects are given by name.
 */
export type GroupRole = z.output<typeof groupRoleSchema>

/** Defines a setting that is a JSON list of `GroupRole`. It is empty by default. */
export function groupRoles(docs: { reason: string }): z.ZodType<GroupRole[]> {
  const expected = `a JSON list of at most ${entries_max} objects, each {"group","organization","role"} with role ${organizationRoles.join(', ')}, or {"group","organization","project","role"} with role ${projectRoles.join(', ')}`
  const schema = z
    .string()
    .transform((text, context): GroupRole[] => {
      const parsed = z.array(groupRoleSchema).max(entries_max).safeParse(parsedJson(text))
      if (parsed.success) return parsed.data
      const [at] = parsed.error.issues[0]?.path ?? []
      const where = typeof at === 'number' ? `entry ${at + 1}: ` : ''
      context.addIssue({ code: 'custom', message: `${where}expected ${expected}` })
      return z.NEVER
    })
    .optional()
    .transform((roles) => roles ?? [])
  return describeSetting<GroupRole[]>(schema, { ...docs, unit: 'JSON' }, 'a JSON list of roles')
}
