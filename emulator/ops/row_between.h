/* SPDX-License-Identifier: MIT */
/*
 * Interpolation of pixels, a part of row_kernels_loops.h.
 */
#ifndef NNPU_EMU_ROW_BETWEEN_H
#define NNPU_EMU_ROW_BETWEEN_H

/*
 * Between corners: top left, bottom left, top right, bottom right. In the order of the formula, for a
 * number or for a vector.
 */
#define ROW_BETWEEN(type, name) \
	ROW_INLINE void name(const float *at_a, const float *at_b, const float *at_c, \
			     const float *at_d, float y, float x, float *out) \
	{ \
		type a = *(const type *)at_a, b = *(const type *)at_b; \
		type c = *(const type *)at_c, d = *(const type *)at_d; \
		\
		*(type *)out = a * (1.0f - y) * (1.0f - x) + b * y * (1.0f - x) + \
			       c * (1.0f - y) * x + d * y * x; \
	}

ROW_BETWEEN(float, row_between)
ROW_BETWEEN(float_quad, row_between_quad)
ROW_BETWEEN(row_vector, row_between_vector)

/*
 * A pixel of @n channels. The last vector begins before the one in front of it ends, if there is one:
 * so there is no rest.
 */
ROW_INLINE void row_fbetween(const float *a, const float *b, const float *c, const float *d, float y,
			     float x, size_t n, float *out)
{
	size_t i = 0;

	if (n >= ROW_WIDTH) {
		for (; i + ROW_WIDTH < n; i += ROW_WIDTH)
			row_between_vector(a + i, b + i, c + i, d + i, y, x, out + i);
		i = n - ROW_WIDTH;
		row_between_vector(a + i, b + i, c + i, d + i, y, x, out + i);
	} else if (n >= 4) {
		for (; i + 4 < n; i += 4)
			row_between_quad(a + i, b + i, c + i, d + i, y, x, out + i);
		i = n - 4;
		row_between_quad(a + i, b + i, c + i, d + i, y, x, out + i);
	} else {
		for (; i < n; i++)
			row_between(a + i, b + i, c + i, d + i, y, x, out + i);
	}
}

ROW_INLINE void row_fbetweens(const struct between_pixels *p, float *out)
{
	const float *top = p->top, *bottom = p->bottom;

	for (size_t i = 0; i < p->pixels; i++, out += p->next) {
		const struct between_columns *k = &p->columns[i];

		row_fbetween(top + k->left, bottom + k->left, top + k->right, bottom + k->right,
			     p->weight, k->weight, p->channels, out);
	}
}

ROW_INLINE uint8_t row_between_bytes(uint8_t a, uint8_t b, uint8_t c, uint8_t d, float y, float x,
				     uint8_t flip)
{
	float v, corners[] = {
		(float)((a ^ flip) - flip), (float)((b ^ flip) - flip),
		(float)((c ^ flip) - flip), (float)((d ^ flip) - flip),
	};
	int32_t min = -(int32_t)flip, whole;

	row_between(corners, corners + 1, corners + 2, corners + 3, y, x, &v);
	v += 0.5f;
	whole = (int32_t)v;
	whole -= (float)whole > v;	/* rounded down */
	whole = whole < min ? min : whole;
	return (uint8_t)(whole > min + 255 ? min + 255 : whole);
}

ROW_INLINE void row_betweens(const struct between_pixels *p, uint8_t flip, uint8_t *to)
{
	for (size_t i = 0; i < p->pixels; i++, to += p->next) {
		const struct between_columns *k = &p->columns[i];
		const uint8_t *a = (const uint8_t *)p->top + k->left;
		const uint8_t *b = (const uint8_t *)p->bottom + k->left;
		const uint8_t *c = (const uint8_t *)p->top + k->right;
		const uint8_t *d = (const uint8_t *)p->bottom + k->right;
		float y = p->weight, x = k->weight;
		size_t n = p->channels;

		ROW_NO_OVERLAP
		for (size_t j = 0; j < n; j++)
			to[j] = row_between_bytes(a[j], b[j], c[j], d[j], y, x, flip);
	}
}

#endif /* NNPU_EMU_ROW_BETWEEN_H */
