import { toString as draw } from 'qrcode'

/** A picture of a text, as a data URI of an SVG. */
export async function toQrCode(text: string): Promise<string> {
  const svg = await draw(text, { type: 'svg', margin: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
