import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Retention() {
  return <Heading title="Retention" />
}
