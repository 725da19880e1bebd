import { apiGroup, apiVersion, type Kind, type PrinterColumn } from '../contract.ts'
import { lastSyncAbout, statusSchema } from './status-schema.ts'
import { notStructural, type StructuralSchema, type ValidationRule } from './structural-schema.ts'
import { structuralSchemaOf } from './structural-schema-of.ts'

/** The category that `kubectl get looptrace` lists. */
export const category = 'looptrace'

/** A CustomResourceDefinition of apiextensions.k8s.io/v1. */
export type Crd = {
  apiVersion: 'apiextensions.k8s.io/v1'
  kind: 'CustomResourceDefinition'
  metadata: { name: string }
  spec: {
    group: string
    scope: 'Namespaced'
    names: {
      kind: string
      listKind: string
      plural: string
      singular: string
      shortNames: readonly string[]
      categories: readonly string[]
    }
    versions: readonly CrdVersion[]
  }
}

type CrdVersion = {
  name: string
  served: true
  storage: true
  schema: { openAPIV3Schema: StructuralSchema }
  subresources: { status: object }
  additionalPrinterColumns: readonly CrdColumn[]
}

type CrdColumn = {
  name: string
  type: PrinterColumn['type']
  jsonPath: string
  description: string
  priority?: number
}

/**
 * The CRD of a kind, from its schemas alone; the same kind makes the same object. Throws
 * `SchemaNotStructural`, which names the field that a CRD can't have.
 */
export function crdOf(kind: Kind): Crd {
  const { plural, singular, short_names } = kind
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames: short_names,
        categories: [category],
      },
      versions: [
        {
          name: apiVersion.slice(apiGroup.length + 1),
          served: true,
          storage: true,
          schema: { openAPIV3Schema: resourceSchemaOf(kind) },
          subresources: { status: {} },
          additionalPrinterColumns: columnsOf(kind).map(columnOf),
        },
      ],
    },
  }
}

/** The structural schema of a whole resource of the kind. */
export function resourceSchemaOf(kind: Kind): StructuralSchema {
  const spec = { description: kind.description, ...structuralSchemaOf(kind.spec, 'spec') }
  const status = statusSchema(structuralSchemaOf(kind.status, 'status'))
  return {
    description: kind.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { description: `${apiVersion}.`, type: 'string' },
      kind: { description: `${kind.kind}.`, type: 'string' },
      metadata: { type: 'object' },
      spec,
      status,
    },
    ...rulesOf(kind),
  }
}

function rulesOf({ rules }: Kind): { 'x-kubernetes-validations'?: readonly ValidationRule[] } {
  if (rules.some(({ rule, message }) => !rule || !message)) {
    notStructural('rules', 'a rule without a message, expected both')
  }
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }
}

/** The columns of `kubectl get` and `looptrace get` after the name, in order. */
export function columnsOf(kind: Kind): readonly PrinterColumn[] {
  return [
    condition('Ready', 'status', 'Whether the service has what the spec says.'),
    condition('Reason', 'reason', 'Why it is or is not ready.'),
    ...kind.columns,
    {
      name: 'Last Sync',
      type: 'date',
      path: '.status.lastSyncTime',
      description: lastSyncAbout,
    },
    {
      name: 'Age',
      type: 'date',
      path: '.metadata.creationTimestamp',
      description: 'When the resource was made.',
    },
  ]
}

function condition(name: string, field: string, description: string): PrinterColumn {
  const path = `.status.conditions[?(@.type=="Ready")].${field}`
  return { name, type: 'string', path, description }
}

function columnOf({ path, priority, ...column }: PrinterColumn): CrdColumn {
  return { ...column, jsonPath: path, ...(priority !== undefined && { priority }) }
}
