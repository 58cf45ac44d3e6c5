import { toString as draw } from 'qrcode'

/** Returns an SVG as a data URI. */
export async function toQrCode(text: string): Promise<string> {
  const svg = await draw(text, { type: 'svg', margin: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
