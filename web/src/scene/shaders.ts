// The shaders of the scene. Positions and states are read from textures by node index, so edges and nodes share them and a changed
// state reaches both without any other upload. Distances are in device pixels throughout.
//
// Nothing is instanced: each vertex computes its node or edge from its index, because instances of a few vertices are slow on many drivers.
// All nodes, and all edges, are one long triangle strip in which the first and last vertex of each are doubled; small nodes are points.

const COMMON = `
precision highp float;
precision highp int;
uniform highp sampler2D uNodes;    // x, y, radius, room; the room of nodes in the second lane is negative
uniform highp usampler2D uStates;  // words as packed in states.ts
uniform vec4 uView;                // centre of the view; device pixels for a slot, by axis
uniform vec2 uHalf;                // half of the viewport
uniform float uPixel;              // device pixels for a CSS pixel
uniform uint uTick;
uniform vec3 uColours[10];
uniform vec3 uBackground;
ivec2 texel(uint i) { return ivec2(int(i & 1023u), int(i >> 10u)); }
vec2 pixels(vec2 world) { return (world - uView.xy) * uView.zw; }
vec4 clip(vec2 p) { return vec4(p / uHalf * vec2(1.0, -1.0), 0.0, 1.0); }
bool inFast(uint s) { return s == 2u || s == 3u || s == 4u || s >= 7u; }
bool working(uint s) { return (s >= 3u && s <= 5u) || s >= 8u; }
`;

export const NODE_VERTEX = `${COMMON}
uniform highp usampler2D uMarks;   // nodes drawn a second time, on top: 1 selected, 2 hovered
uniform int uMarked;               // 1: of the marks, not of all nodes
uniform int uVertices;             // of a node: 6 in the strip, 1 as a point
uniform float uUnit;               // device pixels for a slot on the axis that is not stretched
uniform vec3 uRadius;              // rule of drawnRadius in shape.ts
uniform float uPulse;              // 0..1, how far a pulse has gone; negative: none
uniform vec3 uAccent;
out vec2 vAt;
flat out float vOuter;
flat out float vRadius;
flat out vec4 vShape;              // opacity of fill and ring, squareness, width of the ring
flat out vec3 vColour;
flat out vec4 vGlow;               // colour of the glow, reach
flat out vec4 vExtra;              // strength of the glow, slow ring, mark, radius of the pulse
flat out vec3 vRing;
flat out float vLevel;             // how full it is, from below

const float SIZE[10] = float[10](0.74, 0.52, 1.0, 1.08, 1.08, 0.95, 0.86, 0.96, 1.04, 1.04);
const float FILL[10] = float[10](0.10, 0.62, 1.0, 1.0, 1.0, 1.0, 0.26, 1.0, 1.0, 1.0);
const float RING[10] = float[10](0.85, 0.62, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0);
const float FAR[10] = float[10](0.80, 0.85, 1.0, 1.0, 1.0, 1.0, 0.85, 1.0, 1.0, 1.0);

void main() {
  int which = gl_VertexID / uVertices;
  int turn = clamp(gl_VertexID - uVertices * which - 1, 0, 3);
  uvec2 marked = uMarked == 1 ? texelFetch(uMarks, ivec2(which, 0), 0).rg : uvec2(uint(which), 0u);
  uint mark = marked.y & 3u;
  vec4 node = texelFetch(uNodes, texel(marked.x), 0);
  vec2 p = pixels(node.xy);
  if (any(greaterThan(abs(p) - max(3.0 * uUnit, 40.0 * uPixel), uHalf))) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  uint word = texelFetch(uStates, texel(marked.x), 0).r;
  uint state = word & 15u;
  uint from = (word >> 4u) & 15u;
  float age = float((uTick - (word >> 8u)) & 0xfffffu) * 0.004;
  vLevel = float(word >> 28u) / 15.0;
  float trail = from == 0u || age > 2.4 ? 0.0 : exp(-age * 2.6);
  bool busy = working(state);

  float size = mix(SIZE[state], SIZE[from], trail);
  float free = min(node.z * uRadius.y * uPixel, uRadius.z * abs(node.w) * uUnit);
  float exact = max(node.z * uRadius.x * uUnit, free) * size;
  float minRadius = (busy ? 2.6 : mix(inFast(state) ? 1.15 : 0.80, 1.6, trail)) * uPixel;
  float r = max(exact, minRadius);
  // A node too small for its ring is drawn as a plain dot with the opacity that the ring would have from a distance.
  float close = smoothstep(2.2, 4.2, r / uPixel);
  float fill = mix(FAR[state], FILL[state], close);
  fill = max(fill, trail);
  float thin = clamp(exact / minRadius, inFast(state) ? 0.92 : 0.6, 1.0);

  vRadius = r;
  // The body takes its new colour early, the glow keeps the old one longer: a mix of both colours would be misleading.
  vColour = mix(uColours[state], uColours[from], smoothstep(0.45, 0.95, trail));
  vShape = vec4(fill * mix(thin, 1.0, trail), RING[state] * close, state == 6u ? 1.0 - trail : 0.0, max(uPixel * 1.2, r * 0.14));
  float glow = busy ? 1.0 : (working(from) ? trail * 0.8 : 0.0);
  float reach = busy ? max(r * 1.5, 9.0 * uPixel) : glow * max(r * 0.9, 3.0 * uPixel);
  vGlow = vec4(busy ? vColour : uColours[from], reach);
  float pulse = busy && uPulse >= 0.0 ? r + uPulse * max(r * 1.6, 12.0 * uPixel) : 0.0;
  vExtra = vec4(glow, state == 7u ? close : 0.0, float(mark), pulse);
  vRing = state == 7u && mark == 0u ? uColours[6] : uAccent;

  // As small a quad as possible: there may be a hundred thousand of them.
  bool ringed = mark != 0u || vExtra.y > 0.0;
  float around = max(reach, ringed ? 5.0 * uPixel : (r > 3.5 * uPixel ? 2.2 * uPixel : 0.0)) + 0.75;
  float outer = max(r + around, pulse + 2.0 * uPixel);
  vec2 corner = vec2(float(turn & 1), float(turn >> 1)) * 2.0 - 1.0;
  if (uVertices == 1) corner = vec2(0.0);
  gl_PointSize = 2.0 * outer;
  vOuter = outer;
  vAt = corner * outer;
  gl_Position = clip(p + vAt);
}`;

export const NODE_FRAGMENT = `
precision highp float;
precision highp int;
in vec2 vAt;
flat in float vOuter;
flat in float vRadius;
flat in vec4 vShape;
flat in vec3 vColour;
flat in vec4 vGlow;
flat in vec4 vExtra;
flat in vec3 vRing;
flat in float vLevel;
uniform vec3 uBackground;
uniform float uPixel;
uniform float uDark;
uniform int uVertices;
out vec4 outColour;

float cover(float d) { return clamp(0.5 - d, 0.0, 1.0); }
void over(inout vec4 base, vec3 colour, float alpha) { base = vec4(colour * alpha, alpha) + base * (1.0 - alpha); }

void main() {
  vec2 at = uVertices == 1 ? (gl_PointCoord * 2.0 - 1.0) * vOuter : vAt;
  float round = length(at);
  vec2 q = abs(at) - vRadius * 0.56;
  float square = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - vRadius * 0.30;
  float d = mix(round - vRadius, square, vShape.z);
  vec4 c = vec4(0.0);

  // The glow adds light on a dark background and a soft tint on a light one.
  if (vExtra.x > 0.0) {
    float g = clamp(1.0 - max(d, 0.0) / vGlow.w, 0.0, 1.0);
    g = g * g * vExtra.x * mix(0.50, 0.62, uDark);
    c = vec4(vGlow.rgb * g, g * mix(1.0, 0.35, uDark));
  }
  if (vExtra.w > 0.0) {
    float far = (vExtra.w - vRadius) / max(vGlow.w, 1.0);
    float ring = cover(abs(round - vExtra.w) - 0.75 * uPixel) * clamp(1.0 - far * 0.75, 0.0, 1.0) * 0.8;
    over(c, vColour, ring);
  }
  // A rim in the background colour keeps edges from touching the node.
  if (vRadius > 3.5 * uPixel) over(c, uBackground, cover(d - 1.6 * uPixel) * (1.0 - vExtra.x * 0.7));
  float body = cover(d);
  float rim = body - cover(d + vShape.w);
  float filled = vLevel > 0.99 ? 1.0 : mix(0.14, 1.0, clamp(at.y - vRadius * (1.0 - 2.0 * vLevel) + 0.5, 0.0, 1.0));
  over(c, vColour, max(body * vShape.x * filled, rim * vShape.y));
  // A value in both memories: a second, thinner outline.
  if (vExtra.y > 0.0) over(c, vRing, cover(abs(d - 3.0 * uPixel) - 0.8 * uPixel) * vExtra.y);
  if (vExtra.z > 0.0) over(c, vRing, cover(abs(d - 3.6 * uPixel) - 0.95 * uPixel) * (vExtra.z >= 2.0 && vExtra.z < 2.5 ? 0.75 : 1.0));
  if (c.a <= 0.002) discard;
  outColour = c;
}`;

/** Maximum bend, in slots, of an edge along its row; a layout leaves this much room around it. */
export const MAX_BEND = 0.95;

export const EDGE_VERTEX = `${COMMON}
const float MAX_BEND = ${MAX_BEND.toFixed(2)};
uniform highp usampler2D uEdges;   // from, to, and kind: 0 plain, 1 input of the move, 2 into and 3 out of a chosen node
uniform float uSlot;               // device pixels for a slot along the flow
uniform vec2 uFlow;                // unit vector of the direction of the layout
uniform int uSegments;
uniform float uWidth;
uniform float uOpacity;
uniform float uBow;                // side to which edges along a row bend
uniform vec3 uEdge;
uniform vec3 uAccent;
out float vSide;
out float vAlong;
flat out vec4 vColour;
flat out vec2 vLook;               // half of the width, strength of the running light
flat out float vLength;
flat out float vFade;               // opacity of the middle of a long edge

void main() {
  int strip = 2 * uSegments + 4;
  int which = gl_VertexID / strip;
  int turn = clamp(gl_VertexID - strip * which - 1, 0, strip - 3);
  uvec4 edge = texelFetch(uEdges, texel(uint(which)), 0);
  uint kind = edge.z;
  vec4 a = texelFetch(uNodes, texel(edge.x), 0);
  vec4 b = texelFetch(uNodes, texel(edge.y), 0);
  vec2 p = pixels(a.xy);
  vec2 q = pixels(b.xy);
  vec2 low = min(p, q), high = max(p, q);
  float slack = 2.6 * max(uView.z, uView.w) + 4.0;
  if (any(greaterThan(low - slack, uHalf)) || any(lessThan(high + slack, -uHalf))) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  vec2 across = vec2(uFlow.y, uFlow.x);
  vec2 d = q - p;
  float along = dot(d, uFlow), aside = dot(d, across);
  bool crossing = (a.w < 0.0) != (b.w < 0.0);
  vec2 lean = crossing ? across * aside * 0.5 : uFlow * along * 0.5;
  vec2 c1 = p + lean, c2 = q - lean;
  // An edge along its own row would cross the nodes in between: it bends away from them, more if it is longer.
  float steps = abs(along) / uSlot;
  float flat_ = 1.0 - smoothstep(0.15, 0.6, abs(aside) / max(uSlot, 1.0));
  float far = smoothstep(1.4, 2.2, steps) * flat_ * (crossing ? 0.0 : 1.0);
  float bend = far * min(0.30 * abs(along), min(min(0.40 + 0.10 * sqrt(steps), MAX_BEND) * dot(uView.zw, across), 80.0 * uPixel));
  vec2 away = across * bend * (a.w < 0.0 ? uBow : -uBow) * 1.33;
  c1 += away;
  c2 += away;

  float t = float(turn >> 1) / float(uSegments);
  float s = 1.0 - t;
  vec2 at = s * s * s * p + 3.0 * s * s * t * c1 + 3.0 * s * t * t * c2 + t * t * t * q;
  vec2 speed = s * s * (c1 - p) + 2.0 * s * t * (c2 - c1) + t * t * (q - c2);
  if (dot(speed, speed) < 1e-6) speed = d + vec2(1e-3, 0.0);
  vec2 normal = normalize(vec2(-speed.y, speed.x));

  uint state = texelFetch(uStates, texel(edge.x), 0).r & 15u;
  bool chosen = kind > 0u;
  float held = inFast(state) ? 1.0 : 0.0;
  vec3 colour = mix(uEdge, uColours[2], held * 0.75);
  float opacity = uOpacity * (1.0 + held * 1.1);
  float width = uWidth;
  if (chosen) {
    colour = kind == 1u ? uColours[3] : (kind == 2u ? uAccent : mix(uAccent, uColours[2], 0.6));
    opacity = kind == 3u ? 0.6 : 0.9;
    width = max(uWidth, 1.5 * uPixel);
  }
  // Edges back to the start of another row would cross everything in between: only their ends are drawn.
  float turns = smoothstep(5.0, 14.0, steps) * smoothstep(0.8, 1.8, abs(aside) / max(dot(uView.zw, across), 1.0));
  vFade = chosen ? 1.0 : mix(0.30, 0.05, turns);
  vLength = length(d);
  vColour = vec4(colour, min(opacity, 1.0));
  vLook = vec2(width * 0.5, kind == 1u ? 1.0 : 0.0);
  float side = float(turn & 1) * 2.0 - 1.0;
  float reach = width * 0.5 + 0.7;
  vSide = side * reach;
  vAlong = t;
  gl_Position = clip(at + normal * vSide);
}`;

export const EDGE_FRAGMENT = `
precision highp float;
in float vSide;
in float vAlong;
flat in vec4 vColour;
flat in vec2 vLook;
flat in float vLength;
flat in float vFade;
uniform float uPixel;
uniform float uSeconds;
uniform float uStub;               // pixels at each end where a long edge is fully visible
out vec4 outColour;

void main() {
  float line = clamp(vLook.x + 0.5 - abs(vSide), 0.0, 1.0);
  // Long edges fade in the middle, and every edge is a little stronger at its target.
  float near = min(vAlong, 1.0 - vAlong) * vLength;
  float keep = mix(1.0, vFade, smoothstep(uStub, uStub * 3.0, near));
  float alpha = vColour.a * line * keep * mix(0.62, 1.0, vAlong);
  vec3 colour = vColour.rgb;
  if (vLook.y > 0.5) {
    float run = fract(vAlong * max(vLength / (60.0 * uPixel), 1.0) - uSeconds * 1.6);
    alpha *= 0.55 + 0.45 * smoothstep(0.55, 1.0, run);
  }
  outColour = vec4(colour * alpha, alpha);
}`;

/** Share of a slot that the margin of a box may take, so that neighbouring boxes do not touch. */
export const BOX_WITHIN = 0.47;

export const BOX_VERTEX = `
precision highp float;
const float WITHIN = ${BOX_WITHIN.toFixed(2)};
in vec4 aBox;                      // left, top, width, height in slots
in vec4 aFill;
in vec4 aStroke;
in vec2 aLook;                     // corner radius and margin, CSS pixels; a negative margin is limited to its slot
uniform vec4 uView;
uniform vec2 uHalf;
uniform float uPixel;
out vec2 vAt;
flat out vec2 vExtent;
flat out vec4 vFill;
flat out vec4 vStroke;
flat out float vCorner;

void main() {
  vec2 margin = vec2(abs(aLook.y) * uPixel);
  if (aLook.y < 0.0) margin = min(margin, WITHIN * uView.zw);
  vec2 low = (aBox.xy - uView.xy) * uView.zw - margin;
  vec2 high = (aBox.xy + aBox.zw - uView.xy) * uView.zw + margin;
  vExtent = (high - low) * 0.5;
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0 - 1.0;
  vAt = corner * (vExtent + 1.5);
  // Boxes too narrow to distinguish fade out.
  float wide = smoothstep(5.0, 22.0, 2.0 * min(vExtent.x, vExtent.y) / uPixel);
  vFill = aFill * vec4(1.0, 1.0, 1.0, mix(0.5, 1.0, wide));
  vStroke = aStroke * vec4(1.0, 1.0, 1.0, wide);
  vCorner = min(aLook.x * uPixel, min(vExtent.x, vExtent.y));
  vec2 p = (low + high) * 0.5 + vAt;
  gl_Position = vec4(p / uHalf * vec2(1.0, -1.0), 0.0, 1.0);
}`;

export const BOX_FRAGMENT = `
precision highp float;
in vec2 vAt;
flat in vec2 vExtent;
flat in vec4 vFill;
flat in vec4 vStroke;
flat in float vCorner;
uniform float uPixel;
out vec4 outColour;

void main() {
  vec2 q = abs(vAt) - vExtent + vCorner;
  float d = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - vCorner;
  float body = clamp(0.5 - d, 0.0, 1.0);
  float line = body - clamp(0.5 - d - uPixel, 0.0, 1.0);
  float alpha = body * vFill.a * (1.0 - line * vStroke.a);
  outColour = vec4(vFill.rgb * alpha + vStroke.rgb * vStroke.a * line, alpha + vStroke.a * line);
}`;

export const SCATTER_VERTEX = `
precision highp float;
precision highp int;
in uvec2 aPair;
uniform vec2 uSize;
flat out uint vWord;
void main() {
  vec2 at = vec2(float(aPair.x & 1023u), float(aPair.x >> 10u)) + 0.5;
  vWord = aPair.y;
  gl_PointSize = 1.0;
  gl_Position = vec4(at / uSize * 2.0 - 1.0, 0.0, 1.0);
}`;

export const SCATTER_FRAGMENT = `
precision highp int;
flat in uint vWord;
out highp uint outWord;
void main() { outWord = vWord; }`;

export const LAYER_VERTEX = `
precision highp float;
out vec2 vAt;
void main() {
  vec2 p = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
  vAt = p;
  gl_Position = vec4(p * 2.0 - 1.0, 0.0, 1.0);
}`;

export const LAYER_FRAGMENT = `
precision highp float;
in vec2 vAt;
uniform sampler2D uLayer;
out vec4 outColour;
void main() { outColour = texture(uLayer, vAt); }`;
