import { expect, test } from 'vitest'
import { resourceSchemaOf } from './crd/crd.ts'
import { kinds } from './kinds/index.ts'

test('exactly the kinds with projectRef, or with toRef, need a grant', () => {
  const declared = kinds.map((kind) => {
    const hasRef = resourceSchemaOf(kind).properties?.['spec']?.properties?.['projectRef']
    const namesProject = (hasRef !== undefined) !== (kind.project?.toRef !== undefined)
    return [kind.kind, kind.project !== undefined, namesProject]
  })
  expect(declared).toEqual(kinds.map(({ kind, project }) => [kind, !!project, !!project]))
  expect(declared.filter(([, needsGrant]) => needsGrant).length).toBeGreaterThan(1)
})

test('one kind declares grants, and it is for the cluster', () => {
  const granting = kinds.filter(({ toGrant }) => toGrant !== undefined)
  expect(granting.map(({ kind, scope, remove }) => [kind, scope, remove])).toEqual([
    // Without `remove` there is no finalizer, so that the chart can be uninstalled with its grants.
    ['ProjectGrant', 'Cluster', undefined],
  ])
})
