import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Overview() {
  return <Heading title="Overview" />
}
