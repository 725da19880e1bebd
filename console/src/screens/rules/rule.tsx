import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Rule() {
  return <Heading title="Rule" />
}
