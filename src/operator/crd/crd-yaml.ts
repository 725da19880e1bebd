import { stringify } from 'yaml'
import type { Crd } from './crd-of.ts'

/** The CRD as YAML; the same CRD makes the same bytes. */
export function crdYaml(crd: Crd): string {
  return stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })
}
