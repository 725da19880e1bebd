import { z } from 'zod'
import { allConfigured, type Configured, type Settings, settingGroups } from './setting-groups.ts'

export type Role = Exclude<Configured, 'cli'>
export type RoleConfig<R extends Configured> = Settings<GroupOf<R>>

type Groups = typeof settingGroups
type GroupOf<R extends Configured> = {
  [G in keyof Groups]: R extends Groups[G]['roles'][number] ? G : never
}[keyof Groups]

/** The settings of each role. */
export const roleSchemas = Object.fromEntries(
  allConfigured.map((role) => {
    const groups = Object.values(settingGroups).filter(({ roles }) =>
      roles.some((one) => one === role),
    )
    return [role, z.object(Object.assign({}, ...groups.map(({ settings }) => settings)))]
  }),
) as Readonly<Record<Configured, z.ZodObject<Record<string, z.ZodType>>>>
