import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Verification() {
  return <Heading title="Verification" />
}
