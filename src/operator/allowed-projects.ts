import { NotReady } from './contract.ts'
import type { ProjectRef } from './project-ref.ts'

/**
 * Projects that the resources of a namespace may name, each as a resource names it: by name or by
 * id. `*` stands for every namespace, and for every project.
 */
export type AllowedProjects = Readonly<Record<string, readonly string[]>>

/**
 * Refuses a resource about a project that its namespace may not name: whoever may write resources in
 * one namespace must not come by the keys of another one's project. Throws `NotReady`
 * (`ProjectNotAllowed`). Where nothing is said every namespace may name every project.
 */
export function refuseForeignProject(
  allowed: AllowedProjects | undefined,
  { namespace, projectRef }: { namespace: string; projectRef: ProjectRef | undefined },
): void {
  if (allowed === undefined || projectRef === undefined) return
  const named = projectRef.id?.toLowerCase() ?? projectRef.name ?? ''
  const own = Object.hasOwn(allowed, namespace) ? (allowed[namespace] ?? []) : []
  const projects = [...own, ...(allowed['*'] ?? [])]
  if (projects.some((project) => project === '*' || project === named)) return
  throw new NotReady(
    'ProjectNotAllowed',
    `resources of the namespace "${namespace}" may not name the project "${named}": the operator's LOOPTRACE_OPERATOR_PROJECTS does not list it there`,
  )
}
